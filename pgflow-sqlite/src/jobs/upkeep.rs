//! Jobs, for people who look after them.

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobState};
use sqlx::{QueryBuilder, Sqlite};

use super::load::{ended, live};
use super::pause;
use super::read::{Found, from_ended, from_live, summary};
use super::write::prunable;
use crate::error::Result;
use crate::load::word;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{
    Counted, JobDepths, JobSearch, JobSummary, JobsOf, PausedNeed, after_all,
};
use pgflow_backend::store::{JobUpkeepSession, Stored};

const STATES: &str = "
    select need, state, count(*) from (select need, state from pgflow_jobs order by seq desc limit ?1)
     group by need, state";

const HELD: &str = "select worker, count(*) from pgflow_job_leases group by worker";

/// The first in line of each need, and when it got there: the trace knows that best. Needs are found one after the other, since
/// there may be millions of jobs of each.
const FIRST: &str = "
    with recursive needs (need) as (
      select (select need from pgflow_jobs where state = 'ready' order by need limit 1)
       union all
      select (select p.need from pgflow_jobs p where p.state = 'ready' and p.need > n.need order by p.need limit 1)
        from needs n where n.need is not null)
    select j.need, j.id, max(j.created_at, coalesce(j.wake_at, 0), coalesce(
             (select t.at from pgflow_job_trace t where t.job = j.id order by t.number desc limit 1), 0))
      from needs n
     cross join pgflow_jobs j on j.seq = (
       select p.seq from pgflow_jobs p
        where p.need = n.need and p.state = 'ready' order by p.priority desc, p.seq limit 1)";

const PRUNABLE: &str = concat!("select count(*) from (select 1 ", prunable!(), " limit ?2)");

const FROM_LIVE: &str = concat!(from_live!(), " where true");
const FROM_ENDED: &str = concat!(from_ended!(), " where true");

impl<C: Conn> JobUpkeepSession for SqliteSession<C> {
    async fn job_depths(&mut self, most: u64) -> Stored<JobDepths> {
        Ok(depths(self, most).await?)
    }

    async fn find_jobs(&mut self, search: &JobSearch) -> Stored<Vec<JobSummary>> {
        Ok(fetch(self, found(search)).await?)
    }

    async fn jobs_beginning(&mut self, beginning: &str, max: u32) -> Stored<Vec<JobSummary>> {
        let mut jobs = fetch(self, named(FROM_LIVE, beginning, max)).await?;
        jobs.extend(fetch(self, named(FROM_ENDED, beginning, max)).await?);
        jobs.sort_by(|a, b| a.id.cmp(&b.id));
        jobs.truncate(max as usize);
        Ok(jobs)
    }

    async fn prunable_jobs(&mut self, ended_by: Timestamp, max: u64) -> Stored<u64> {
        Ok(prunable(self, ended_by, max).await?)
    }

    async fn pause_needs(&mut self, needs: &[String], by: &str) -> Stored<u64> {
        Ok(pause::pause(self, needs, by).await?)
    }

    async fn resume_needs(&mut self, needs: &[String]) -> Stored<u64> {
        Ok(pause::resume(self, needs).await?)
    }

    async fn paused_needs(&mut self) -> Stored<Vec<PausedNeed>> {
        Ok(pause::paused(self).await?)
    }
}

async fn depths<C: Conn>(session: &mut SqliteSession<C>, most: u64) -> Result<JobDepths> {
    let (mut counted, now) = (Counted::default(), session.now);
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let states: Vec<(String, String, i64)> =
        sqlx::query_as(STATES).bind(limit).fetch_all(&mut *session.connection).await?;
    for (need, state, jobs) in states {
        counted.add(need, word(JobState::from_word(&state), &state)?, jobs.unsigned_abs());
    }
    let first: Vec<(String, String, i64)> =
        sqlx::query_as(FIRST).fetch_all(&mut *session.connection).await?;
    for (need, id, since) in first {
        counted.first_ready(need, JobId::from_stored(id), Timestamp::from_micros(since), now);
    }
    let held: Vec<(String, i64)> = sqlx::query_as(HELD).fetch_all(&mut *session.connection).await?;
    for (worker, jobs) in held {
        counted.held(worker, jobs.unsigned_abs());
    }
    Ok(counted.depths(most))
}

type Query = QueryBuilder<Sqlite>;

/// Only what was asked for is said, so that each question finds its index.
fn found(search: &JobSearch) -> Query {
    let is_live = search.of == JobsOf::Live;
    let mut query = Query::new(if is_live { FROM_LIVE } else { FROM_ENDED });
    if let JobsOf::EndedAs(outcome) = search.of {
        // Words are literals: an index of rare ones is found by them.
        query.push(format_args!(" and j.outcome = '{outcome}'"));
        if outcome != pgflow_machine::job::JobOutcome::Done {
            query.push(" and j.outcome <> 'done'");
        }
    }
    if let Some(state) = search.state.filter(|_| is_live) {
        query.push(format_args!(" and j.state = '{state}'"));
    }
    if let Some(need) = &search.need {
        query.push(" and j.need = ").push_bind(need.clone());
    }
    if let Some(key) = &search.key {
        query.push(" and j.key = ").push_bind(key.clone());
    }
    page(&mut query, search);
    query
}

fn page(query: &mut Query, search: &JobSearch) {
    if search.of == JobsOf::Live {
        if let Some(after) = search.after {
            query.push(" and j.seq < ").push_bind(after.seq);
        }
        query.push(" order by j.seq desc");
    } else {
        if let Some(after) = search.after {
            let at = after.ended_at.map_or(i64::MAX, Timestamp::micros);
            query.push(" and j.ended_at <= ").push_bind(at);
            query.push(" and (j.ended_at < ").push_bind(at);
            query.push(" or j.seq < ").push_bind(after.seq).push(")");
        }
        query.push(" order by j.ended_at desc, j.seq desc");
    }
    query.push(" limit ").push_bind(search.max);
}

fn named(from: &'static str, beginning: &str, max: u32) -> Query {
    let mut query = Query::new(from);
    query.push(" and j.id >= ").push_bind(beginning.to_owned());
    if let Some(end) = after_all(beginning) {
        query.push(" and j.id < ").push_bind(end);
    }
    query.push(" order by j.id limit ").push_bind(max);
    query
}

async fn fetch<C: Conn>(
    session: &mut SqliteSession<C>,
    mut query: Query,
) -> Result<Vec<JobSummary>> {
    let found = query.build_query_as::<Found>().fetch_all(&mut *session.connection).await?;
    found.into_iter().map(|found| summary(found, session.now)).collect()
}

async fn prunable<C: Conn>(
    session: &mut SqliteSession<C>,
    ended_by: Timestamp,
    max: u64,
) -> Result<u64> {
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let query = sqlx::query_scalar::<_, i64>(PRUNABLE).bind(ended_by.micros()).bind(max);
    Ok(query.fetch_one(&mut *session.connection).await?.unsigned_abs())
}
