//! Whether jobs go on.

use std::time::Duration;

use pgflow_runtime::Db;
use pgflow_runtime::backend::{Checkup, JobDepths, JobSearch, NeedDepth, Severity, WorkerRecord};
use pgflow_runtime::client::{ClientError, JobReason};
use pgflow_runtime::job::{JobId, JobState};

use super::{Doctor, LATE, UNSERVED, rights};
use crate::database::{COUNTED, spoken};
use crate::error::Error;
use crate::shell;

/// Jobs in concern whose waiters are looked for, and waiters that are named.
const LOOKED_AT: u32 = 100;
const NAMED: usize = 5;

/// Looks at what waits, and for whom. Others than our workers serve needs that are external.
pub(super) async fn look(
    db: &Db,
    alive: Option<&[&WorkerRecord]>,
    command: &Doctor,
    checkup: &mut Checkup,
) -> Result<(), Error> {
    if !db.has_jobs() {
        return Ok(());
    }
    let most = if command.quick { COUNTED } else { u64::MAX };
    let JobDepths { needs, is_part, .. } = db.job_depths_of(most).await?;
    let live: u64 = needs.iter().map(NeedDepth::live).sum();
    let or_more = if is_part { " or more, so many were counted" } else { "" };
    checkup.fact("live_jobs", format!("{live}{or_more}"));
    if let Some(oldest) = needs.iter().filter_map(|need| need.first_ready).max() {
        checkup.fact("oldest_ready_job", spoken(oldest));
    }
    let all_paused = db.paused_needs().await?;
    let stages = db.stages().await.map_err(Error::from);
    let stages = rights::allowed("permits", stages, checkup)?.unwrap_or_default();
    for need in &needs {
        concern(db, need, checkup).await?;
        if all_paused.iter().any(|paused| paused.need == need.need) {
            paused(need, checkup);
            continue;
        }
        let Some(alive) = alive else { continue };
        let serving = alive.iter().filter(|worker| worker.serves_need(&need.need)).count();
        // What somebody has is served by somebody.
        let is_external = command.external.contains(&need.need) || need.running > 0;
        if serving > 0 {
            let stage = stages.get(&need.need);
            let batch = stage.and_then(|stage| stage.batch.as_ref());
            let patience = LATE + batch.map_or(Duration::ZERO, |batch| batch.wait);
            let is_limited =
                stage.is_some_and(|stage| !stage.rates.is_empty() || !stage.resources.is_empty());
            late(db, need, (patience, is_limited), checkup).await?;
        } else if !is_external {
            unserved(need, checkup);
        }
    }
    Ok(())
}

/// Also says who waits for them: nobody goes on before somebody decides.
async fn concern(db: &Db, need: &NeedDepth, checkup: &mut Checkup) -> Result<(), Error> {
    if need.concern == 0 {
        return Ok(());
    }
    let (state, name) = (Some(JobState::Concern), Some(need.need.clone()));
    let search = JobSearch { state, need: name, max: LOOKED_AT, ..JobSearch::default() };
    let aside: Vec<_> = db.find_jobs(&search).await?.jobs.into_iter().map(|job| job.id).collect();
    let mut waiters: Vec<_> =
        db.job_waiters(&aside).await?.into_iter().map(|(_, waiter)| waiter).collect();
    waiters.sort_unstable();
    waiters.dedup();
    let what = format!(
        "{} jobs of `{}` have lost too many workers in a row, and are not leased any more{}",
        need.concern,
        need.need,
        waited_for(&waiters)
    );
    let fix = "see which with `pgflow job ls --status concern`; then `pgflow job clear` or `pgflow job cancel`";
    checkup.find("crash-concern", Severity::Error, what, fix);
    Ok(())
}

/// Who waits, the first few by name.
fn waited_for(waiters: &[JobId]) -> String {
    if waiters.is_empty() {
        return String::new();
    }
    let names: Vec<_> = waiters.iter().take(NAMED).map(|waiter| format!("`{waiter}`")).collect();
    let more = if waiters.len() > NAMED { ", …" } else { "" };
    format!("; {} jobs wait for them: {}{more}", waiters.len(), names.join(", "))
}

/// Somebody may have forgotten it.
fn paused(need: &NeedDepth, checkup: &mut Checkup) {
    let Some(age) = need.first_ready.filter(|age| *age > LATE) else { return };
    checkup.find(
        "paused",
        Severity::Warning,
        format!(
            "`{}` is paused, and {} jobs wait for it, the first for {}",
            need.need,
            need.ready,
            spoken(age)
        ),
        format!("`pgflow queue resume {}` lets them go on", shell::argument(&need.need)),
    );
}

fn unserved(need: &NeedDepth, checkup: &mut Checkup) {
    let Some(age) = need.first_ready.filter(|age| *age > UNSERVED) else { return };
    let (name, jobs, age) = (&need.need, need.ready, spoken(age));
    let quoted = shell::word(name);
    checkup.find(
        "no-worker",
        Severity::Error,
        format!("{jobs} jobs need `{name}`, the first for {age}, and no worker serves it"),
        format!(
            "start a worker that has code for `{name}`, or cancel the jobs; if people or other programs serve it, say so \
             with `--external={quoted}`"
        ),
    );
}

/// What a rate, a resource or a batch keeps is where it should be; more workers would not help it.
async fn late(
    db: &Db,
    need: &NeedDepth,
    (patience, is_limited): (Duration, bool),
    checkup: &mut Checkup,
) -> Result<(), Error> {
    let Some(age) = need.first_ready.filter(|age| *age > LATE) else { return Ok(()) };
    let reason = keeper(db, need).await?;
    let is_kept = match reason {
        JobReason::Busy { .. } => false,
        // A token or a unit may be free just now, and the next job about to take it.
        JobReason::Ready { .. } | JobReason::Batch { .. } => is_limited,
        _ => true,
    };
    if reason.needs_somebody() {
        blocked(db, need, age, &reason, checkup).await?;
    } else if !is_kept && age > patience {
        checkup.find(
            "late",
            Severity::Warning,
            format!(
                "the first job in line that needs `{}` has waited for {}",
                need.need,
                spoken(age)
            ),
            "start more workers, or give them more slots",
        );
    }
    Ok(())
}

/// What keeps jobs of a need, or the first of them, which may want something of its own.
async fn keeper(db: &Db, need: &NeedDepth) -> Result<JobReason, Error> {
    let reason = db.why_need(&need.need).await?;
    if !matches!(reason, JobReason::Ready { .. } | JobReason::Batch { .. }) {
        return Ok(reason);
    }
    let Some(first) = &need.first else { return Ok(reason) };
    match db.why_job(first).await {
        Ok(why) => Ok(why.reasons.into_iter().next().unwrap_or(reason)),
        // It was taken meanwhile, and is gone: that is as well.
        Err(ClientError::UnknownJob { .. }) => Ok(reason),
        Err(error) => Err(error.into()),
    }
}

/// Nothing that takes what there is none of begins until somebody does something.
async fn blocked(
    db: &Db,
    need: &NeedDepth,
    age: Duration,
    reason: &JobReason,
    checkup: &mut Checkup,
) -> Result<(), Error> {
    let why = reason.sentence(db.now().await?);
    let what = format!(
        "{} jobs need `{}`, the first for {}, and none is taken: {why}",
        need.ready,
        need.need,
        spoken(age)
    );
    checkup.find("blocked", Severity::Warning, what, unblocking(reason));
    Ok(())
}

/// What to do about something that cannot be had.
pub(super) fn unblocking(reason: &JobReason) -> String {
    match reason {
        JobReason::Rate { rate, .. } => {
            let rate = shell::argument(rate);
            format!("`pgflow queue rate {rate} 10/s` sets a rate, of ten in a second")
        }
        JobReason::Resource { resource, .. } => {
            format!("give resource `{resource}` more capacity, or let attempts hold less of it")
        }
        _ => "see `pgflow why` of one of them".to_owned(),
    }
}
