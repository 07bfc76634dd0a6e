//! How attempts at jobs ended.

use std::borrow::Cow;
use std::collections::HashSet;

use pgflow_machine::job::{
    HandOver, JobHold, JobRetry, JobSettle, JobSettled, JobVerdict, NewJob, Wait,
};
use pgflow_machine::{Limits, cut_error};
use serde_json::{Value, json};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use super::arrays::{moment, said, span_of};
use super::check_caller;
use super::problem::Problem;
use super::ready::ready_needs;
use crate::batch::without_nul;
use crate::claim::int;
use crate::engine::{Lane, Statement};
use crate::error::{translate, unexpected};
use crate::open::Postgres;
use pgflow_backend::backend::BackendError;

const FINISH: &str =
    concat!("select outcome, ", ready_needs!(), " from pgflow.finish_jobs($1, $2, $3, $4)");

const SETTLE: &str = concat!(
    "select s.outcome, ",
    ready_needs!(),
    " from pgflow.settle_jobs(
      $1, $2, $3, $4, $5, $6, $7,
      (select array_agg('epoch'::timestamptz + m * interval '1 microsecond' order by n) from unnest($8::int8[]) with ordinality t(m, n)),
      $9, $10, $11) s"
);

pub(super) const SETTLE_ONE: &str = concat!(
    "select outcome, problem, ",
    ready_needs!(),
    " from pgflow.settle_job($1, $2, $3, $4, $5)"
);

impl Postgres {
    /// What only says how attempts ended goes in one call; what forks or waits for others, each in its own. Of two settles of
    /// one job the second comes later.
    pub(super) async fn settle_attempts(
        &self,
        settles: &[JobSettle],
        by: &str,
    ) -> Result<Vec<JobSettled>, BackendError> {
        check_caller(by)?;
        let limits = self.job_limits().await?;
        let mut settled = Vec::with_capacity(settles.len());
        let mut left = settles;
        while !left.is_empty() {
            let batch = plain(left, &limits);
            if batch == 0 {
                settled.push(self.settle_alone(&left[0], by, &limits).await?);
                left = &left[1..];
            } else {
                settled.extend(self.settle_batch_of_jobs(&left[..batch], by, &limits).await?);
                left = &left[batch..];
            }
        }
        Ok(settled)
    }

    async fn settle_batch_of_jobs(
        &self,
        settles: &[JobSettle],
        by: &str,
        limits: &Limits,
    ) -> Result<Vec<JobSettled>, BackendError> {
        let columns = Columns::of(settles);
        match self.engine.ask(Lane::Worker, || columns.statement(by)).await {
            Ok(rows) => {
                self.ring_for_ready(&rows)?;
                self.wake_after(&rows).await;
                rows.iter().map(outcome).collect()
            }
            // A limit that is not as it was: whom does it concern?
            Err(error) if Problem::of(&error).is_some() => {
                let mut settled = Vec::with_capacity(settles.len());
                for settle in settles {
                    settled.push(self.settle_alone(settle, by, limits).await?);
                }
                Ok(settled)
            }
            Err(error) => Err(translate(error)),
        }
    }

    async fn settle_alone(
        &self,
        settle: &JobSettle,
        by: &str,
        limits: &Limits,
    ) -> Result<JobSettled, BackendError> {
        let ending = Ending::of(settle, limits);
        let rows = self.engine.ask(Lane::Worker, || ending.statement(settle, by)).await;
        let rows = rows.map_err(translate)?;
        self.ring_for_ready(&rows)?;
        self.wake_after(&rows).await;
        let settled = ending.read(settle, &rows[0])?;
        if settled == JobSettled::Applied {
            self.ring_for_new(settle.submits.iter());
        }
        Ok(settled)
    }
}

/// How many settles from the first on can go in one call.
fn plain(settles: &[JobSettle], limits: &Limits) -> usize {
    first_once(settles, |settle| is_plain(settle, limits))
}

/// How many settles from the first on are of this kind, each of another job.
pub(crate) fn first_once(settles: &[JobSettle], mut fits: impl FnMut(&JobSettle) -> bool) -> usize {
    let mut seen = HashSet::new();
    let mut is_first = |settle: &JobSettle| seen.insert(settle.hold.job.clone());
    settles.iter().take_while(|settle| fits(settle) && is_first(settle)).count()
}

pub(super) fn is_plain(settle: &JobSettle, limits: &Limits) -> bool {
    settle.submits.is_empty() && waits_for_nothing(settle, limits)
}

/// Whether neither it nor what it forks waits for others, and nothing is wrong with it as far as that is known.
pub(crate) fn waits_for_nothing(settle: &JobSettle, limits: &Limits) -> bool {
    waits_of(settle).next().is_none() && settle.check(limits).is_ok()
}

/// Whether it gives up its key, which is not said in a trip.
pub(super) fn frees_key(settle: &JobSettle) -> bool {
    matches!(&settle.verdict, JobVerdict::HandedOver(to) if to.frees_key)
}

/// Ids and tokens as columns.
pub(super) fn holds<'a>(
    holds: impl Iterator<Item = &'a JobHold>,
) -> (Vec<&'a str>, Vec<Cow<'a, str>>) {
    holds.map(|hold| (hold.job.as_str(), without_nul(&hold.token.0))).unzip()
}

/// Settles as columns.
pub(crate) struct Columns<'a> {
    ids: Vec<&'a str>,
    tokens: Vec<Cow<'a, str>>,
    verdicts: Vec<&'static str>,
    payloads: Vec<Option<Json<&'a Value>>>,
    errors: Vec<Option<Cow<'a, str>>>,
    delays: Vec<Option<i64>>,
    needs: Vec<Option<&'a str>>,
    wake_ats: Vec<Option<i64>>,
    max_attempts: Vec<Option<i32>>,
    frees_keys: Vec<bool>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(settles: &'a [JobSettle]) -> Self {
        let (ids, tokens) = holds(settles.iter().map(|settle| &settle.hold));
        let said = || settles.iter().map(EndColumns::of);
        Self {
            ids,
            tokens,
            verdicts: said().map(|said| said.verdict).collect(),
            payloads: said().map(|said| said.payload.map(Json)).collect(),
            errors: said().map(|said| said.error).collect(),
            delays: said().map(|said| said.delay).collect(),
            needs: said().map(|said| said.need).collect(),
            wake_ats: said().map(|said| said.wake_at).collect(),
            max_attempts: said().map(|said| said.max_attempts).collect(),
            frees_keys: settles.iter().map(frees_key).collect(),
        }
    }

    pub(crate) fn statement<'q>(&'q self, by: &'q str) -> Statement<'q> {
        if self.verdicts.iter().all(|verdict| *verdict == FINISHED) {
            let finish = sqlx::query(FINISH).bind(&self.ids).bind(&self.tokens);
            return finish.bind(&self.payloads).bind(by);
        }
        self.bind(sqlx::query(SETTLE)).bind(by).bind(said(&self.frees_keys, |frees| *frees))
    }

    /// The nine parameters of `settle_jobs` before the caller's name.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        statement
            .bind(&self.ids)
            .bind(&self.tokens)
            .bind(&self.verdicts)
            .bind(&self.payloads)
            .bind(&self.errors)
            .bind(said(&self.delays, Option::is_some))
            .bind(said(&self.needs, Option::is_some))
            .bind(said(&self.wake_ats, Option::is_some))
            .bind(said(&self.max_attempts, Option::is_some))
    }
}

const FINISHED: &str = "finished";

/// A verdict, in the words of the core.
#[derive(Default)]
struct EndColumns<'a> {
    verdict: &'static str,
    payload: Option<&'a Value>,
    error: Option<Cow<'a, str>>,
    delay: Option<i64>,
    need: Option<&'a str>,
    wake_at: Option<i64>,
    max_attempts: Option<i32>,
}

impl<'a> EndColumns<'a> {
    fn of(settle: &'a JobSettle) -> Self {
        match &settle.verdict {
            JobVerdict::Finished(output) => {
                Self { verdict: FINISHED, payload: Some(output), ..Self::default() }
            }
            JobVerdict::Released => Self { verdict: "released", ..Self::default() },
            JobVerdict::Failed { error, retry } => Self::failed(error, *retry),
            JobVerdict::HandedOver(to) => Self::handed_over(to),
        }
    }

    fn failed(error: &'a str, retry: JobRetry) -> Self {
        let (verdict, delay) = match retry {
            JobRetry::After(delay) => ("failed", Some(span_of(delay))),
            JobRetry::Never => ("fatal", None),
        };
        let error = Some(without_nul(cut_error(error)));
        Self { verdict, error, delay, ..Self::default() }
    }

    fn handed_over(to: &'a HandOver) -> Self {
        let (wake_at, delay) = moment(to.wake);
        Self {
            verdict: "handed_over",
            payload: to.payload.as_ref(),
            delay,
            need: Some(&to.need),
            wake_at,
            max_attempts: to.max_attempts.map(int),
            error: None,
        }
    }
}

/// A settle that goes alone.
pub(crate) struct Ending {
    json: Value,
    /// It is to be refused, for this reason, if nothing else is to be said.
    problem: Option<pgflow_machine::job::JobProblem>,
}

impl Ending {
    pub(crate) fn of(settle: &JobSettle, limits: &Limits) -> Self {
        match settle.check(limits) {
            Ok(()) => Self { json: ending(settle), problem: None },
            // What can't be stored is not sent.
            Err(problem) => {
                let json = json!({ "verdict": EndColumns::of(settle).verdict });
                Self { json, problem: Some(problem) }
            }
        }
    }

    pub(crate) fn statement<'q>(&'q self, settle: &'q JobSettle, by: &'q str) -> Statement<'q> {
        sqlx::query(SETTLE_ONE)
            .bind(settle.hold.job.as_str())
            .bind(without_nul(&settle.hold.token.0))
            .bind(Json(&self.json))
            .bind(by)
            .bind(self.problem.is_some())
    }

    pub(crate) fn read(&self, settle: &JobSettle, row: &PgRow) -> Result<JobSettled, BackendError> {
        if row.try_get::<&str, _>("outcome").map_err(translate)? != "refused" {
            return outcome(row);
        }
        let said = Problem::read(row.try_get("problem").map_err(translate)?);
        let said = said.map(|problem| problem.about(waits_of(settle)));
        let problem = self.problem.clone().or(said);
        problem.map(JobSettled::Refused).ok_or_else(|| unexpected("a refusal without a reason"))
    }
}

/// All that is to be waited for, in the order in which it is looked at.
fn waits_of(settle: &JobSettle) -> impl Iterator<Item = &Wait> {
    let own = match &settle.verdict {
        JobVerdict::HandedOver(to) => &to.after[..],
        _ => &[],
    };
    settle.submits.iter().flat_map(|new| &new.after).chain(own)
}

fn ending(settle: &JobSettle) -> Value {
    let said = EndColumns::of(settle);
    let mut ending = json!({
        "verdict": said.verdict,
        "error": said.error,
        "delay": said.delay,
        "need": said.need,
        "wake_at": said.wake_at,
        "max_attempts": said.max_attempts,
        "frees_key": frees_key(settle),
        "after": match &settle.verdict {
            JobVerdict::HandedOver(to) => edges(&to.after),
            _ => Value::Array(Vec::new()),
        },
        "forks": settle.submits.iter().map(fork).collect::<Vec<_>>(),
    });
    if let Some(payload) = said.payload {
        ending["payload"] = payload.clone();
    }
    ending
}

/// A job to submit, as the core takes it beside other things.
pub(crate) fn fork(new: &NewJob) -> Value {
    let (wake_at, delay) = moment(new.wake);
    let (expires_at, lifetime) = moment(new.expires);
    json!({
        "id": new.id,
        "need": new.need,
        "payload": new.payload,
        "priority": new.priority,
        "key": new.key,
        "wake_at": wake_at,
        "delay": delay,
        "expires_at": expires_at,
        "lifetime": lifetime,
        "max_attempts": new.max_attempts,
        "after": edges(&new.after),
    })
}

fn edges(waits: &[Wait]) -> Value {
    let mut seen = HashSet::new();
    let edge = |wait: &Wait| json!({ "kind": wait.on.kind(), "id": wait.on.name(), "policy": wait.policy });
    waits.iter().filter(|wait| seen.insert(&wait.on)).map(edge).collect()
}

pub(crate) fn outcome(row: &PgRow) -> Result<JobSettled, BackendError> {
    match row.try_get("outcome").map_err(translate)? {
        "applied" => Ok(JobSettled::Applied),
        "fenced" => Ok(JobSettled::Fenced),
        "already_settled" => Ok(JobSettled::AlreadySettled),
        "cancelled" => Ok(JobSettled::Cancelled),
        "unknown" => Ok(JobSettled::Unknown),
        other => Err(unexpected(format_args!("the outcome `{other}` of a job"))),
    }
}
