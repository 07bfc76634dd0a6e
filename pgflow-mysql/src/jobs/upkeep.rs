//! Jobs, for people who look after them.

use std::ops::DerefMut;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobState};
use sqlx::{MySqlConnection, QueryBuilder};

use super::forget::prunable;
use super::load::{ended, live};
use super::names::text;
use super::read::{Found, from_ended, from_live};
use crate::error::Result;
use crate::load::word;
use crate::session::MySqlSession;
use pgflow_backend::backend::{Counted, JobDepths, JobSearch, JobSummary, JobsOf, after_all};

const STATES: &str = "
    select need, state, count(*) from (select need, state from pgflow_jobs order by seq desc limit ?) s
     group by need, state";

const HELD: &str = "select worker, count(*) from pgflow_job_leases group by worker";

/// The first in line of each need, and when it got there: the trace knows that best.
const FIRST: &str = "
    select j.need, j.id, greatest(j.created_at, coalesce(j.wake_at, 0), coalesce(
             (select t.at from pgflow_job_trace t where t.job = j.id order by t.number desc limit 1), 0))
      from (select distinct need from pgflow_jobs where state = 'ready') n
      join pgflow_jobs j on j.seq = (
       select p.seq from pgflow_jobs p
        where p.need = n.need and p.state = 'ready' order by p.urgency, p.seq limit 1)";

const PRUNABLE: &str = concat!("select count(*) from (select 1 ", prunable!(), " limit ?) found");

const FROM_LIVE: &str = concat!(from_live!(), " where true");
const FROM_ENDED: &str = concat!(from_ended!(), " where true");

pub(crate) async fn depths<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    most: u64,
) -> Result<JobDepths> {
    let (mut counted, now) = (Counted::default(), session.now);
    let states: Vec<(Vec<u8>, String, i64)> =
        sqlx::query_as(STATES).bind(most).fetch_all(session.connection()).await?;
    for (need, state, jobs) in states {
        counted.add(text(need)?, word(JobState::from_word(&state), &state)?, jobs.unsigned_abs());
    }
    let first: Vec<(Vec<u8>, Vec<u8>, i64)> =
        sqlx::query_as(FIRST).fetch_all(session.connection()).await?;
    for (need, id, since) in first {
        let id = JobId::from_stored(text(id)?);
        counted.first_ready(text(need)?, id, Timestamp::from_micros(since), now);
    }
    let held: Vec<(String, i64)> = sqlx::query_as(HELD).fetch_all(session.connection()).await?;
    for (worker, jobs) in held {
        counted.held(worker, jobs.unsigned_abs());
    }
    Ok(counted.depths(most))
}

type Query = QueryBuilder<sqlx::MySql>;

/// Only what was asked for is said, so that each question finds its index.
pub(crate) async fn find<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    search: &JobSearch,
) -> Result<Vec<JobSummary>> {
    let is_live = search.of == JobsOf::Live;
    let mut query = Query::new(if is_live { FROM_LIVE } else { FROM_ENDED });
    if let JobsOf::EndedAs(outcome) = search.of {
        query.push(" and j.outcome = ").push_bind(outcome.word());
    }
    if let Some(state) = search.state.filter(|_| is_live) {
        query.push(" and j.state = ").push_bind(state.word());
    }
    if let Some(need) = &search.need {
        query.push(" and j.need = ").push_bind(need.as_bytes().to_vec());
    }
    if let Some(key) = &search.key {
        query.push(" and j.job_key = ").push_bind(key.as_bytes().to_vec());
    }
    page(&mut query, search);
    fetch(session, query).await
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

pub(crate) async fn beginning<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    beginning: &str,
    max: u32,
) -> Result<Vec<JobSummary>> {
    let mut jobs = fetch(session, named(FROM_LIVE, beginning, max)).await?;
    jobs.extend(fetch(session, named(FROM_ENDED, beginning, max)).await?);
    jobs.sort_by(|a, b| a.id.cmp(&b.id));
    jobs.truncate(max as usize);
    Ok(jobs)
}

fn named(from: &'static str, beginning: &str, max: u32) -> Query {
    let mut query = Query::new(from);
    query.push(" and j.id >= ").push_bind(beginning.as_bytes().to_vec());
    if let Some(end) = after_all(beginning) {
        query.push(" and j.id < ").push_bind(end.into_bytes());
    }
    query.push(" order by j.id limit ").push_bind(max);
    query
}

async fn fetch<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    mut query: Query,
) -> Result<Vec<JobSummary>> {
    let found = query.build_query_as::<Found>().fetch_all(session.connection()).await?;
    Ok(found.into_iter().map(|found| found.summary(session.now)).collect())
}

pub(crate) async fn prunable<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ended_by: Timestamp,
    max: u64,
) -> Result<u64> {
    let query = sqlx::query_scalar::<_, i64>(PRUNABLE).bind(ended_by.micros()).bind(max);
    Ok(query.fetch_one(session.connection()).await?.unsigned_abs())
}
