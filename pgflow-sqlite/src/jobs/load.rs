//! Rows of jobs, as commands ask for them.

use pgflow_machine::job::{
    ArchivedJob, Dependency, JobId, JobLease, JobNeeds, JobOutcome, JobRow, JobRows, JobState,
    JobToken, Policy, RING_WALK, Seq,
};
use pgflow_machine::{RunId, RunStatus, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{ids, names};
use crate::error::{Result, broken};
use crate::load::word;
use crate::row::row;
use crate::session::{Conn, SqliteSession};

/// What all looks at jobs have in common.
macro_rules! columns {
    () => {
        "j.seq, j.id, j.need, j.priority, j.state, j.wake_at, j.waits, j.key, j.expires_at, j.attempts, j.forgiven,
         j.failures, j.lapses, j.streak, j.max_attempts, j.cancel, j.settled, j.created_at"
    };
}
pub(super) use columns;

/// Live jobs `j`, with their leases.
macro_rules! live {
    () => {
        concat!(
            "select ",
            crate::jobs::load::columns!(),
            ", l.token, l.until, l.worker, null as outcome"
        )
    };
}
pub(super) use live;

macro_rules! ended {
    () => {
        concat!(
            "select ",
            crate::jobs::load::columns!(),
            ", null as token, null as until, null as worker, j.outcome"
        )
    };
}
pub(super) use ended;

const LIVE: &str = concat!(
    live!(),
    " from json_each(?1) k cross join pgflow_jobs j on j.id = k.value
      left join pgflow_job_leases l on l.job = j.seq"
);

const ENDED: &str =
    concat!(ended!(), " from json_each(?1) k cross join pgflow_job_archive j on j.id = k.value");

const READY: &str = concat!(
    live!(),
    " from json_each(?1) k cross join pgflow_jobs j on j.key = k.value and j.state = 'ready'
      left join pgflow_job_leases l on l.job = j.seq"
);

/// The first parked ones of each need in the lines of keys: needs are found one after the other in the index.
const PARKED: &str = concat!(
    "with recursive needs (key, need) as (
       select k.value, (select min(p.need) from pgflow_jobs p where p.key = k.value and p.state = 'parked')
         from json_each(?1) k
        union all
       select n.key, (select min(p.need) from pgflow_jobs p
                       where p.key = n.key and p.state = 'parked' and p.need > n.need)
         from needs n where n.need is not null
     ) ",
    live!(),
    " from needs n cross join pgflow_jobs j on j.seq in (
        select p.seq from pgflow_jobs p
         where p.key = n.key and p.state = 'parked' and p.need = n.need
         order by p.priority desc, p.seq limit ?2)
      left join pgflow_job_leases l on l.job = j.seq
      where n.need is not null"
);

const RUNS: &str = "
    select r.run_id, r.status from json_each(?1) k cross join pgflow_runs r on r.run_id = unhex(k.value)";

const KEYS: &str = "
    select h.key, h.holder from json_each(?1) k cross join pgflow_job_keys h on h.key = k.value";

const WAITERS: &str = "
    select e.kind, e.dependency, e.waiter, e.policy
      from json_each(?1) k
      cross join pgflow_job_edges e on e.kind = k.value ->> 0 and e.dependency = k.value ->> 1";

const WAITS: &str = "
    with recursive walk (id) as (
      select value from json_each(?1)
       union
      select e.dependency from walk w cross join pgflow_job_edges e on e.waiter = w.id where e.kind = 'job'
       limit ?2
    )
    select e.kind, e.dependency, e.waiter, e.policy
      from walk w cross join pgflow_job_edges e on e.waiter = w.id";

row! {
    pub(super) struct FoundJob {
        seq: i64,
        pub(super) id: String,
        need: String,
        priority: i32,
        state: String,
        wake_at: Option<i64>,
        waits: u32,
        key: Option<String>,
        expires_at: Option<i64>,
        attempts: u32,
        forgiven: u32,
        failures: u32,
        lapses: u32,
        streak: u32,
        max_attempts: Option<u32>,
        cancel: Option<String>,
        settled: Option<String>,
        created_at: i64,
        token: Option<String>,
        until: Option<i64>,
        worker: Option<String>,
        pub(super) outcome: Option<String>,
    }
}

impl FoundJob {
    pub(super) fn row(self) -> Result<JobRow> {
        let moment = |micros: Option<i64>| micros.map(Timestamp::from_micros);
        let cancel = self.cancel.as_deref().map(serde_json::from_str).transpose();
        let found = self.token.zip(self.until).zip(self.worker);
        let lease = |((token, until), worker): ((String, i64), String)| JobLease {
            token: JobToken(token),
            until: Timestamp::from_micros(until),
            worker,
        };
        Ok(JobRow {
            seq: Seq::Given(self.seq),
            need: self.need,
            priority: self.priority,
            state: word(JobState::from_word(&self.state), &self.state)?,
            wake_at: moment(self.wake_at),
            waits: self.waits,
            key: self.key,
            expires_at: moment(self.expires_at),
            attempts: self.attempts,
            forgiven: self.forgiven,
            failures: self.failures,
            lapses: self.lapses,
            streak: self.streak,
            max_attempts: self.max_attempts,
            cancel: cancel.map_err(broken)?,
            lease: found.map(lease),
            settled: self.settled.map(JobToken),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}

pub(super) async fn load<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    if !needs.runs.is_empty() {
        runs(session, needs, rows).await?;
    }
    if !needs.jobs.is_empty() {
        jobs(session, LIVE, &ids(&needs.jobs), rows).await?;
        let missing = needs.jobs.iter().filter(|id| !rows.jobs.contains_key(*id));
        let missing: Vec<_> = missing.collect();
        if !missing.is_empty() {
            jobs(session, ENDED, &ids(missing), rows).await?;
        }
    }
    if !needs.keys.is_empty() {
        keys(session, needs, rows).await?;
    }
    if !needs.lines.is_empty() {
        let keys = names(needs.lines.keys().map(String::as_str));
        jobs(session, READY, &keys, rows).await?;
        let many = needs.lines.values().copied().max().unwrap_or_default();
        let query = sqlx::query_as(PARKED).bind(keys).bind(i64::try_from(many).unwrap_or(i64::MAX));
        let found: Vec<FoundJob> = query.fetch_all(&mut *session.connection).await?;
        add(found, rows)?;
    }
    if !needs.waiters.is_empty() {
        let on: Value = needs.waiters.iter().map(|on| json!([on.kind(), on.name()])).collect();
        for (on, waiter, policy) in edges(session, WAITERS, &on.to_string()).await? {
            rows.waiters.entry(on).or_default().push((waiter, policy));
        }
    }
    if !needs.waits.is_empty() {
        for (on, waiter, _) in edges(session, WAITS, &ids(&needs.waits)).await? {
            rows.waits.entry(waiter).or_default().push(on);
        }
    }
    Ok(())
}

async fn runs<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    let wanted: Value = needs.runs.iter().map(|run| run.0.simple().to_string()).collect();
    let query = sqlx::query_as(RUNS).bind(wanted.to_string());
    let found: Vec<(Uuid, String)> = query.fetch_all(&mut *session.connection).await?;
    for (run, status) in found {
        rows.runs.insert(RunId(run), word(RunStatus::from_word(&status), &status)?);
    }
    Ok(())
}

async fn jobs<C: Conn>(
    session: &mut SqliteSession<C>,
    sql: &'static str,
    wanted: &str,
    rows: &mut JobRows,
) -> Result<()> {
    let query = sqlx::query_as(sql).bind(wanted);
    let found: Vec<FoundJob> = query.fetch_all(&mut *session.connection).await?;
    add(found, rows)
}

fn add(found: Vec<FoundJob>, rows: &mut JobRows) -> Result<()> {
    for mut found in found {
        let id = JobId::from_stored(std::mem::take(&mut found.id));
        match found.outcome.take() {
            None => drop(rows.jobs.insert(id, found.row()?)),
            Some(outcome) => {
                let outcome = word(JobOutcome::from_word(&outcome), &outcome)?;
                rows.archived.insert(id, ArchivedJob { row: found.row()?, outcome });
            }
        }
    }
    Ok(())
}

async fn keys<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &JobNeeds,
    rows: &mut JobRows,
) -> Result<()> {
    let wanted = names(needs.keys.iter().map(String::as_str));
    let query = sqlx::query_as(KEYS).bind(wanted);
    let found: Vec<(String, String)> = query.fetch_all(&mut *session.connection).await?;
    rows.keys.extend(needs.keys.iter().map(|key| (key.clone(), None)));
    let held = |(key, holder): (String, String)| (key, Some(JobId::from_stored(holder)));
    rows.keys.extend(found.into_iter().map(held));
    Ok(())
}

async fn edges<C: Conn>(
    session: &mut SqliteSession<C>,
    sql: &'static str,
    wanted: &str,
) -> Result<Vec<(Dependency, JobId, Policy)>> {
    let most = i64::try_from(RING_WALK).unwrap_or(i64::MAX);
    let mut query = sqlx::query_as(sql).bind(wanted);
    if sql == WAITS {
        query = query.bind(most);
    }
    let found: Vec<(String, String, String, String)> =
        query.fetch_all(&mut *session.connection).await?;
    let edge = |(kind, name, waiter, policy): (String, String, String, String)| {
        let on = word(Dependency::from_stored(&kind, name), &kind)?;
        let policy = word(Policy::from_word(&policy), &policy)?;
        Ok((on, JobId::from_stored(waiter), policy))
    };
    found.into_iter().map(edge).collect()
}
