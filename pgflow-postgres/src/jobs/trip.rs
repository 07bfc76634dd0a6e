//! A worker's trip with tasks and jobs: one statement.

use std::collections::HashSet;
use std::time::Duration;

use pgflow_machine::job::{JobClaim, JobSettle, JobSettled};
use pgflow_machine::{Settle, Settled, settle_rounds};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::arrays::seconds;
use super::claim::claimed;
use super::problem::Problem;
use super::ready::ready_needs;
use super::settle::{Columns, frees_key, is_plain, outcome};
use crate::batch::Batch;
use crate::claim::{Room, int};
use crate::ended::ended;
use crate::engine::Statement;
use crate::error::{code, translate};
use crate::open::Postgres;
use crate::settle::outcome as task_outcome;
use pgflow_backend::backend::{BackendError, Claimed, Settlement, Trip, instead_of, job_outcome};

const TRIP: &str = concat!(
    "select t.kind, t.outcome, coalesce((t.task).flow_slug, t.flow_slug) as flow_slug, coalesce((t.task).run_id, t.run_id) as run_id,
            (t.task).step_slug, (t.task).task_index, coalesce((t.task).attempt, (t.job).attempts) as attempt,
            coalesce((t.task).input, t.input) as input, (t.task).timeout,
            (t.job).id, (t.job).need, (t.job).payload, (t.job).token::text as token, (t.job).priority, (t.job).key, (t.job).failures,
            (t.job).lapses, (t.job).streak, (t.job).max_attempts, (t.job).seq, (t.job).forgiven, t.next_in,
            (extract(epoch from (t.job).lease_until) * 1000000)::int8 as lease_until,
            (extract(epoch from (t.job).created_at) * 1000000)::int8 as created_at,
            (extract(epoch from (t.job).expires_at) * 1000000)::int8 as expires_at, ",
    ready_needs!(),
    " from pgflow.settle_and_claim_all(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
        (select array_agg('epoch'::timestamptz + m * interval '1 microsecond' order by n) from unnest($26::int8[]) with ordinality t(m, n)),
        $27, $28, $29, $30, $31, $32, $33) t"
);

/// What of a trip goes in its statement.
struct Load<'a> {
    tasks: Batch<'a>,
    jobs: Columns<'a>,
    room: Room<'a>,
    wanted: Parts,
    by: &'a str,
    tasks_first: bool,
}

/// Claims of jobs as columns.
struct Parts {
    needs: Vec<String>,
    numbers: Vec<i32>,
    seconds: Vec<f64>,
    quotas: Vec<i32>,
    leases: Vec<(String, Duration)>,
}

impl Postgres {
    /// Releases of tasks, and ends of jobs that fork or wait for others, are rare, have locks of their own to take, and go before the
    /// rest.
    pub(super) async fn exchange(&self, trip: &Trip<'_>) -> Result<Settlement, BackendError> {
        let (by, limits) = (trip.by(), self.job_limits().await?);
        let (task_places, tasks) = trip.tasks();
        let (job_places, jobs) = trip.jobs();
        let mut settled = vec![Settled::Unknown; trip.settles.len()];
        let has_simple_tasks = goes_along(&tasks);
        if !has_simple_tasks {
            let early = self.settle_tasks(&tasks, None).await?.settled;
            task_places.iter().zip(early).for_each(|(at, outcome)| settled[*at] = outcome);
        }
        let are_unique = is_unique(&jobs);
        let (along, early): (Vec<_>, Vec<_>) = job_places
            .into_iter()
            .zip(jobs)
            .partition(|(_, settle)| are_unique && is_plain(settle, &limits) && !frees_key(settle));
        let (early_places, early): (Vec<_>, Vec<_>) = early.into_iter().unzip();
        let outcomes = self.settle_or_fail(&early, &by).await?;
        early_places.into_iter().zip(outcomes).for_each(|(at, outcome)| settled[at] = outcome);

        let tasks = if has_simple_tasks { &tasks[..] } else { &[] };
        let (job_places, jobs): (Vec<_>, Vec<_>) = along.into_iter().unzip();
        if tasks.is_empty() && jobs.is_empty() && trip.next.is_none() {
            return Ok(Settlement { settled, claimed: Claimed::default() });
        }
        let work = self.exchange_plain(trip, tasks, &jobs, &by).await?;
        let places = task_places.iter().filter(|_| has_simple_tasks).chain(&job_places);
        places.zip(work.settled).for_each(|(at, outcome)| settled[*at] = outcome);
        Ok(Settlement { settled, claimed: work.claimed })
    }

    /// What the core refuses as a whole is told apart; the claim goes on its own then.
    async fn exchange_plain(
        &self,
        trip: &Trip<'_>,
        tasks: &[Settle],
        jobs: &[JobSettle],
        by: &str,
    ) -> Result<Settlement, BackendError> {
        let error = match self.exchange_once(trip, tasks, jobs, by).await {
            Ok(rows) => {
                let work = self.read_trip(trip, &rows, tasks, jobs.len()).await?;
                self.give_up_holds(tasks, &work.settled).await;
                return self.settle_left_out(work, &rows, tasks.len(), jobs, by).await;
            }
            Err(error) => error,
        };
        let is_unstorable = matches!(code(&error).as_deref(), Some("54000" | "22P05" | "54001"));
        if (tasks.is_empty() && jobs.is_empty())
            || !(is_unstorable || Problem::of(&error).is_some())
        {
            return Err(translate(error));
        }
        let mut settled = self.settle_tasks(tasks, None).await?.settled;
        settled.extend(self.settle_or_fail(jobs, by).await?);
        let rows = self.exchange_once(trip, &[], &[], by).await.map_err(translate)?;
        let claimed = self.read_trip(trip, &rows, &[], 0).await?.claimed;
        Ok(Settlement { settled, claimed })
    }

    /// Jobs are left out where the end of a run has locked others, and theirs are held: they go by themselves.
    async fn settle_left_out(
        &self,
        mut work: Settlement,
        rows: &[PgRow],
        tasks: usize,
        jobs: &[JobSettle],
        by: &str,
    ) -> Result<Settlement, BackendError> {
        let is_job = |row: &PgRow| row.try_get::<&str, _>("kind").is_ok_and(|kind| kind == "job");
        if !jobs.is_empty() && !rows.iter().any(is_job) {
            work.settled.truncate(tasks);
            work.settled.extend(self.settle_or_fail(jobs, by).await?);
        }
        Ok(work)
    }

    async fn exchange_once(
        &self,
        trip: &Trip<'_>,
        tasks: &[Settle],
        jobs: &[JobSettle],
        by: &str,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let all: Vec<_> = (0..tasks.len()).collect();
        let queues = trip.queues();
        let load = Load {
            tasks: Batch::new(tasks, &all),
            jobs: Columns::of(jobs),
            room: Room::of_trip(
                queues.as_ref(),
                trip.next.map_or(0, |claim| claim.max),
                trip.worker,
            ),
            wanted: Parts::of(&trip.needs()),
            by,
            tasks_first: trip.tasks_first(),
        };
        self.as_worker(queues.as_ref(), || load.statement()).await
    }

    async fn read_trip(
        &self,
        trip: &Trip<'_>,
        rows: &[PgRow],
        tasks: &[Settle],
        jobs: usize,
    ) -> Result<Settlement, BackendError> {
        self.ring_for_ready(rows)?;
        self.wake_after(rows).await;
        let wanted = Parts::of(&trip.needs());
        let all: Vec<_> = (0..tasks.len()).collect();
        let batch = Batch::new(tasks, &all);
        let (mut task_places, mut job_places) = (batch.settled(), tasks.len()..tasks.len() + jobs);
        let mut settled = vec![Settled::Unknown; tasks.len() + jobs];
        let (mut handouts, mut claimed_work) = (Vec::new(), Claimed::default());
        for row in rows {
            match row.try_get("kind").map_err(translate)? {
                "claimed" => handouts.push(self.read_task(row).map_err(translate)?),
                "ended" => ended(row, "outcome", "input")?.announce(),
                "leased" => {
                    if let Some(job) = claimed(row, &trip.by())? {
                        let lasts = wanted.lease(&job.taken.row.need);
                        claimed_work.jobs.push((job, lasts));
                    }
                }
                "next" => {
                    let next: Option<f64> = row.try_get("next_in").map_err(translate)?;
                    claimed_work.next_in =
                        next.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                }
                "job" => {
                    if let Some(at) = job_places.next() {
                        settled[at] = job_outcome(&outcome(row)?);
                    }
                }
                _ => {
                    let word = row.try_get("outcome").map_err(translate)?;
                    if let Some(at) = task_places.next() {
                        settled[at] = task_outcome(word)?;
                    }
                }
            }
        }
        claimed_work.tasks = self.hand_on(handouts).await?;
        self.ring_for(tasks, &settled[..tasks.len()]);
        Ok(Settlement { settled, claimed: claimed_work })
    }

    /// Settles jobs by themselves. What cannot be as it was said fails, with the reason.
    async fn settle_or_fail(
        &self,
        settles: &[JobSettle],
        by: &str,
    ) -> Result<Vec<Settled>, BackendError> {
        if settles.is_empty() {
            return Ok(Vec::new());
        }
        let mut settled = Vec::with_capacity(settles.len());
        for (settle, answer) in settles.iter().zip(self.settle_attempts(settles, by).await?) {
            let answer = match answer {
                JobSettled::Refused(problem) => {
                    let failed = self.settle_attempts(&[instead_of(settle, &problem)], by).await?;
                    failed.into_iter().next().unwrap_or(JobSettled::Unknown)
                }
                answer => answer,
            };
            settled.push(job_outcome(&answer));
        }
        Ok(settled)
    }
}

/// Whether these can be settled by the statement of the trip: nothing is handed back or waits, and no task is settled twice.
fn goes_along(tasks: &[Settle]) -> bool {
    let all: Vec<_> = (0..tasks.len()).collect();
    let batch = Batch::new(tasks, &all);
    settle_rounds(tasks).len() <= 1 && batch.releases.leases.len() + batch.waits.leases.len() == 0
}

fn is_unique(jobs: &[JobSettle]) -> bool {
    let mut seen = HashSet::new();
    jobs.iter().all(|settle| seen.insert(settle.hold.job.as_str()))
}

impl Load<'_> {
    fn statement(&self) -> Statement<'_> {
        let statement = self.tasks.completions.bind(sqlx::query(TRIP));
        let statement = self.room.bind(self.tasks.failures.bind(statement));
        let statement = self.jobs.bind(statement).bind(self.by);
        self.wanted.bind(statement).bind(self.tasks_first)
    }
}

impl Parts {
    fn of(claims: &[JobClaim]) -> Self {
        let numbered = || {
            (1..).zip(claims).flat_map(|(part, claim)| {
                claim.needs.iter().map(move |need| (part, need.clone(), claim.lease))
            })
        };
        Self {
            needs: numbered().map(|(_, need, _)| need).collect(),
            numbers: numbered().map(|(part, ..)| part).collect(),
            seconds: claims.iter().map(|claim| seconds(claim.lease)).collect(),
            quotas: claims.iter().map(|claim| int(claim.max)).collect(),
            leases: numbered().map(|(_, need, lease)| (need, lease)).collect(),
        }
    }

    /// How long a job of this need was leased for.
    fn lease(&self, need: &str) -> Duration {
        let found = self.leases.iter().find(|(of, _)| of == need);
        found.map_or(pgflow_backend::backend::LEASE, |(_, lease)| *lease)
    }

    fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        statement.bind(&self.needs).bind(&self.numbers).bind(&self.seconds).bind(&self.quotas)
    }
}
