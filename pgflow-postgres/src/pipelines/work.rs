//! Jobs of messages: submitted, leased and settled by the functions of jobs, in the transaction of the messages.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use pgflow_machine::job::{JobId, JobProblem, JobSettle, JobSettled, NewJob, Submitted};
use pgflow_machine::{Limits, Timestamp};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::look::moment;
use super::session::{PostgresSession, Speaks, now_at};
use crate::claim::int;
use crate::error::translate;
use crate::jobs::{
    Ending, NewColumns, Problem, SettleColumns, claimed, first_once, outcome, ready_of, seconds,
    submit, submitted, waits_for_nothing,
};
use pgflow_backend::backend::{ClaimedJob, StageClaim};
use pgflow_backend::store::{Front, QueueSession, Ready, Stored};

/// What was leased, and what time it is.
macro_rules! leased {
    ($more:literal, $call:literal) => {
        concat!(
            "select c.id, c.need, c.payload, c.token, c.attempt, c.priority, c.key, c.failures, c.lapses, c.streak, c.max_attempts,
                    c.seq, c.forgiven, (extract(epoch from c.lease_until) * 1000000)::int8 as lease_until,
                    (extract(epoch from c.created_at) * 1000000)::int8 as created_at,
                    (extract(epoch from c.expires_at) * 1000000)::int8 as expires_at, ",
            $more,
            now_at!(),
            " from (select) o left join pgflow.",
            $call,
            " c on true"
        )
    };
}

const LEASE: &str = leased!("", "lease_messages($1, $2, $3)");

const FRONT: &str = leased!(
    "(extract(epoch from c.since) * 1000000)::int8 as since, c.is_cut, ",
    "claim_messages($1, $2, $3, $4)"
);

const DEAD: &str = "
  select d.id from unnest(array['failed', 'crashed']) o(outcome),
         pgflow.find_jobs(true, outcome => o.outcome, need => $1,
           before_at => clock_timestamp() - $2 * interval '1 second', before_seq => 9223372036854775807, max_jobs => $3) d(id)
   limit $3";

const CENTURY: Duration = Duration::from_hours(24 * 365 * 100);

type Answer = Result<Submitted, JobProblem>;

impl<C: Speaks> QueueSession for PostgresSession<C> {
    fn now(&self) -> Timestamp {
        self.now
    }

    /// A look finds nothing of what is paused.
    async fn is_paused(&mut self, _need: &str) -> Stored<bool> {
        Ok(false)
    }

    async fn long_dead(
        &mut self,
        need: &str,
        older_than: Duration,
        max: u32,
    ) -> Stored<Vec<JobId>> {
        // Longer than this, the database cannot count.
        let age = older_than.as_secs_f64().min(CENTURY.as_secs_f64());
        let (need, max) = (need.to_owned(), int(max));
        let statement = move || sqlx::query(DEAD).bind(need.clone()).bind(age).bind(max);
        let rows = self.ask(statement).await?;
        let id =
            |row: &PgRow| row.try_get::<String, _>("id").map(JobId::from_stored).map_err(translate);
        rows.iter().map(id).collect()
    }

    /// Those that wait for nothing go in one call. What others wait for may not be there: then they go one by one, and those that
    /// are wrong keep nobody out.
    async fn submit(
        &mut self,
        jobs: &[NewJob],
        by: &str,
        limits: Limits,
    ) -> Stored<(Vec<Answer>, Ready)> {
        let mut answers: Vec<Answer> =
            jobs.iter().map(|job| job.check(&limits).map(|()| Submitted::Exists)).collect();
        let good: Vec<usize> = (0..jobs.len()).filter(|at| answers[*at].is_ok()).collect();
        let new: Vec<_> = good.iter().map(|at| &jobs[*at]).collect();
        let ready = Ready { needs: at_once(&new), ..Ready::default() };
        let outcomes = match &new[..] {
            [job] => vec![self.submit_one(job, by).await?],
            _ if new.iter().all(|job| job.after.is_empty()) => {
                self.submit_all(&new, by).await?.into_iter().map(Ok).collect()
            }
            _ => self.submit_waiting(&new, by).await?,
        };
        good.into_iter().zip(outcomes).for_each(|(at, answer)| answers[at] = answer);
        Ok((answers, ready))
    }

    /// What waits for nothing goes in one call, and then what it emits. Of two settles of one job the second comes later.
    async fn settle(
        &mut self,
        settles: &[JobSettle],
        by: &str,
        limits: Limits,
    ) -> Stored<(Vec<JobSettled>, Ready)> {
        let (mut settled, mut ready) = (Vec::with_capacity(settles.len()), Ready::default());
        let mut left = settles;
        while !left.is_empty() {
            let batch = together(left, &limits).max(1);
            let is_alone = batch == 1 && !waits_for_nothing(&left[0], &limits);
            let (outcomes, freed) = if is_alone {
                self.settle_alone(&left[0], by, &limits).await?
            } else {
                self.settle_together(&left[..batch], by).await?
            };
            settled.extend(outcomes);
            ready.extend(freed);
            left = &left[batch..];
        }
        Ok((settled, ready))
    }

    async fn take(
        &mut self,
        candidates: &[JobId],
        worker: &str,
        lease: Duration,
    ) -> Stored<Vec<ClaimedJob>> {
        let ids: Vec<_> = candidates.iter().map(JobId::as_str).collect();
        let statement = || sqlx::query(LEASE).bind(worker).bind(&ids).bind(seconds(lease));
        let rows = self.ask_in_time(statement).await?;
        let taken = rows.iter().filter_map(|row| claimed(row, worker).transpose());
        let taken = taken.collect::<Stored<Vec<_>>>()?;
        for (row, message) in rows.iter().zip(&taken) {
            let place = row.try_get("seq").map_err(translate)?;
            self.leased.insert(place, message.taken.hold.job.clone());
        }
        Ok(taken)
    }
}

/// How many settles from the first on can go together: none waits for others, or is about what another one of them emits.
fn together(settles: &[JobSettle], limits: &Limits) -> usize {
    let mut emitted = HashSet::new();
    first_once(settles, |settle| {
        let fits = !emitted.contains(&settle.hold.job) && waits_for_nothing(settle, limits);
        emitted.extend(settle.submits.iter().map(|job| job.id.clone()));
        fits
    })
}

/// What is needed by jobs that can be had at once; the others are found when their time comes.
fn at_once(jobs: &[&NewJob]) -> BTreeSet<String> {
    let at_once = jobs.iter().filter(|job| job.after.is_empty() && job.wake.is_none());
    at_once.map(|job| job.need.clone()).collect()
}

impl<C: Speaks> PostgresSession<C> {
    /// See [`Queues::take_front`](pgflow_backend::store::Queues::take_front).
    pub(super) async fn take_front(&mut self, claim: &StageClaim) -> Stored<Front> {
        let StageClaim { worker, need, lease, max, .. } = claim;
        let front = || sqlx::query(FRONT).bind(worker).bind(need).bind(seconds(*lease));
        let rows = self.ask_in_time(|| front().bind(int(*max))).await?;
        let (mut messages, mut is_cut) = (Vec::with_capacity(rows.len()), false);
        for row in &rows {
            let Some(message) = claimed(row, worker)? else { continue };
            messages.push((message, moment(row, "since")?.unwrap_or_default()));
            is_cut = row.try_get("is_cut").map_err(translate)?;
        }
        Ok(Front { messages, is_cut, now: self.now })
    }

    async fn submit_all(&mut self, jobs: &[&NewJob], by: &str) -> Stored<Vec<Submitted>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let columns = NewColumns::of(jobs.iter().copied());
        let rows = self.ask(|| submit(&columns, by)).await?;
        rows.iter().map(submitted).collect()
    }

    /// One that is refused ends the transaction, in which there is nothing else then.
    async fn submit_one(&mut self, job: &NewJob, by: &str) -> Stored<Answer> {
        let columns = NewColumns::of([job]);
        match self.connection.ask(&|| submit(&columns, by)).await {
            Ok(rows) => submitted(&rows[0]).map(Ok),
            Err(error) => match Problem::of(&error) {
                Some(problem) => Ok(Err(problem.about(job.after.iter()))),
                None => Err(self.connection.meaning(error)),
            },
        }
    }

    async fn submit_waiting(&mut self, jobs: &[&NewJob], by: &str) -> Stored<Vec<Answer>> {
        let mut answers = Vec::with_capacity(jobs.len());
        let mut left = vec![jobs];
        while let Some(part) = left.pop() {
            let columns = NewColumns::of(part.iter().copied());
            self.ask(|| sqlx::query("savepoint messages")).await?;
            match self.connection.ask(&|| submit(&columns, by)).await {
                Ok(rows) => {
                    let outcomes = rows.iter().map(|row| submitted(row).map(Ok));
                    answers.extend(outcomes.collect::<Stored<Vec<_>>>()?);
                    self.ask(|| sqlx::query("release savepoint messages")).await?;
                }
                Err(error) => {
                    let Some(problem) = Problem::of(&error) else {
                        return Err(self.connection.meaning(error));
                    };
                    self.ask(|| sqlx::query("rollback to savepoint messages")).await?;
                    match part.split_at(part.len() / 2) {
                        ([], _) => answers.push(Err(problem.about(part[0].after.iter()))),
                        (first, second) => left.extend([second, first]),
                    }
                }
            }
        }
        Ok(answers)
    }

    async fn settle_together(
        &mut self,
        settles: &[JobSettle],
        by: &str,
    ) -> Stored<(Vec<JobSettled>, Ready)> {
        let columns = SettleColumns::of(settles);
        let rows = self.ask_in_time(|| columns.statement(by)).await?;
        let outcomes = rows.iter().map(outcome).collect::<Stored<Vec<_>>>()?;
        let mut ready = ready_of(&rows)?;
        let applied = settles.iter().zip(&outcomes);
        let applied = applied.filter(|(_, outcome)| **outcome == JobSettled::Applied);
        let emitted: Vec<_> = applied.flat_map(|(settle, _)| &settle.submits).collect();
        self.submit_all(&emitted, by).await?;
        ready.needs.extend(at_once(&emitted));
        Ok((outcomes, ready))
    }

    /// What forks jobs that wait for others, or waits for others itself, or is to be refused.
    async fn settle_alone(
        &mut self,
        settle: &JobSettle,
        by: &str,
        limits: &Limits,
    ) -> Stored<(Vec<JobSettled>, Ready)> {
        let ending = Ending::of(settle, limits);
        let rows = self.ask_in_time(|| ending.statement(settle, by)).await?;
        let settled = ending.read(settle, &rows[0])?;
        let mut ready = ready_of(&rows)?;
        if settled == JobSettled::Applied {
            ready.needs.extend(at_once(&settle.submits.iter().collect::<Vec<_>>()));
        }
        Ok((vec![settled], ready))
    }
}
