//! Waits that are over, and children that nobody waits for any more.

use std::collections::HashMap;

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{EndWaits, Over, orphaned};
use pgflow_machine::{
    Cancel, Limits, Needs, Payload, Rows, RunStatus, TaskKey, TaskLease, cut_error,
};
use serde_json::Value;

use crate::backend::Woken;
use crate::store::execute::{News, again, execute, hint};
use crate::store::{Access, OpenWait, Orphan, Session, Store, Stored, WaitSession, WaitsOf, jobs};

/// Waits that one transaction looks at.
const BATCH: u32 = 100;

/// Rounds of a call that lets all go on that can: a chain of parents goes up one at a time.
const ROUNDS: u32 = 1_000;

/// Lets everything go on that can. What is left undone, the next sweep does.
pub(crate) async fn advance<S: Store>(store: &S) {
    for _ in 0..ROUNDS {
        match round(store, BATCH).await {
            Ok(round) if round.is_idle => return,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "waits are left to the next sweep");
                return;
            }
        }
    }
}

/// Up to `max` waits, orphans and signals that were kept too long.
pub(crate) async fn wake<S: Store>(store: &S, max: u32) -> Stored<Woken> {
    let (mut woken, mut left) = (Woken::default(), u64::from(max));
    for _ in 0..ROUNDS {
        let batch = u32::try_from(left.min(BATCH.into())).unwrap_or(BATCH);
        let Round { woken: more, is_idle } = round(store, batch).await?;
        woken.woken += more.woken;
        woken.timed_out += more.timed_out;
        woken.cancelled += more.cancelled;
        woken.expired += more.expired;
        let done = more.woken + more.timed_out + more.cancelled + more.expired;
        left = left.saturating_sub(done);
        if is_idle || left == 0 {
            break;
        }
    }
    Ok(woken)
}

async fn expire<S: Store>(store: &S, max: u32) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let expired = session.expire_signals(max).await?;
    store.commit(session).await?;
    Ok(expired)
}

/// What one round has done.
struct Round {
    woken: Woken,
    /// There was nothing to do. Waits that were looked at and wait on are not in the way of others any more.
    is_idle: bool,
}

async fn round<S: Store>(store: &S, max: u32) -> Stored<Round> {
    // Nearly always nothing is due; then nobody is kept from writing.
    let mut reading = store.begin(Access::Read).await?;
    let now = reading.now();
    if reading.next_wait().await?.is_none_or(|next| next > now) {
        return Ok(Round { woken: Woken::default(), is_idle: true });
    }
    let due = reading.due_waits(max).await?;
    let orphans = reading.orphans(max).await?;
    drop(reading);
    let mut woken = Woken::default();
    let mut is_idle = due.is_empty() && orphans.is_empty();
    if is_idle {
        woken.expired = again!(store, expire(store, max))?;
        is_idle = woken.expired == 0;
    }
    if !due.is_empty() {
        woken = again!(store, wake_batch(store, &due))?;
    }
    for orphan in orphans {
        woken.cancelled += u64::from(again!(store, cancel(store, &orphan))?);
    }
    Ok(Round { woken, is_idle })
}

async fn wake_batch<S: Store>(store: &S, due: &[TaskKey]) -> Stored<Woken> {
    let mut session = store.begin(Access::Write).await?;
    session.load(&Needs::of_tasks(due), &mut Rows::default()).await?;
    let mut waits = Vec::with_capacity(due.len());
    for task in due {
        // First, so that an end which comes after this look is news again.
        session.mark_seen(task).await?;
        waits.extend(wait_to_end(&mut session, task).await?);
    }
    let (woken, news) = end_waits(&mut session, waits, store.limits()).await?;
    store.commit(session).await?;
    hint(store, news);
    Ok(woken)
}

/// The wait of a task with its children, if it may be over.
async fn wait_to_end<S: Session>(session: &mut S, task: &TaskKey) -> Stored<Option<OpenWait>> {
    let Some(row) = session.load_wait(task).await? else { return Ok(None) };
    let glance = session.glance(task, row.attempt).await?;
    if !row.may_be_over(glance, session.now()) {
        return Ok(None);
    }
    let children = session.load_children(task, row.attempt).await?;
    Ok(Some(OpenWait { task: task.clone(), row, children }))
}

/// Ends those of these waits that are over. Their runs are locked.
pub(super) async fn end_waits<S: Session>(
    session: &mut S,
    mut waits: Vec<OpenWait>,
    limits: Limits,
) -> Stored<(Woken, News)> {
    waits.sort_by(|a, b| a.task.cmp(&b.task));
    let (mut ends, mut ended, mut timeouts) = (Vec::new(), Vec::new(), Vec::new());
    for wait in &waits {
        match over(session, wait).await? {
            Some(over) => {
                timeouts.push(matches!(over, Over::TimedOut(_)));
                let (task, attempt) = (wait.task.clone(), wait.row.attempt);
                ends.push((TaskLease { task, attempt }, over));
                ended.push(&wait.task);
            }
            None if wait.children.is_empty() => {}
            None => session.mark_seen(&wait.task).await?,
        }
    }
    let mut woken = Woken::default();
    if ends.is_empty() {
        return Ok((woken, News::default()));
    }
    let (applied, mut news) = execute(session, &EndWaits::new(ends, limits)).await?;
    for ((task, applied), timed_out) in ended.into_iter().zip(applied).zip(timeouts) {
        let reason = orphaned(task.run, RunStatus::Started);
        // One that did not take effect is of a step that has ended: nobody waits there.
        news.waits |= session.close_waits(WaitsOf::Task(task), &reason).await? > 0;
        woken.timed_out += u64::from(applied && timed_out);
        woken.woken += u64::from(applied && !timed_out);
    }
    Ok((woken, news))
}

async fn over<S: Session>(session: &mut S, wait: &OpenWait) -> Stored<Option<Over>> {
    let (row, children) = (&wait.row, &wait.children);
    let mut outputs = HashMap::new();
    if row.is_met(children) && row.wants_outputs(children) {
        let runs: Vec<_> = children.iter().filter_map(|child| child.on.run()).collect();
        let wanted: Vec<_> = runs.iter().map(|run| (*run, Payload::RunOutput)).collect();
        if !wanted.is_empty() {
            let found = session.payloads(&wanted).await?;
            outputs.extend(found.into_iter().map(|((run, _), it)| (Dependency::Run(run), it)));
        }
        for job in children.iter().filter_map(|child| child.on.job()) {
            let output = session.job_record(job).await?.and_then(|record| record.output);
            outputs.extend(output.map(|output| (Dependency::Job(job.clone()), output)));
        }
    }
    let output = |on: &Dependency| outputs.get(on).cloned().unwrap_or(Value::Null);
    Ok(row.over(children, session.now(), output))
}

/// Cancels an orphan. Says whether it went on.
async fn cancel<S: Store>(store: &S, Orphan { child, parent, reason }: &Orphan) -> Stored<bool> {
    let mut session = store.begin(Access::Write).await?;
    let (is_new, news) = match child {
        Dependency::Run(run) => {
            let reason = Some(cut_error(reason));
            let (answer, news) = execute(&mut session, &Cancel { run: *run, reason }).await?;
            (answer == pgflow_machine::Cancelled::Cancelled, news)
        }
        Dependency::Job(job) => {
            let by = jobs::by_run(*parent);
            let (is_new, ready) = jobs::cancel_orphan(&mut session, job, &by, reason).await?;
            (is_new, News { ready, ..News::default() })
        }
    };
    session.forget_orphan(child).await?;
    store.commit(session).await?;
    hint(store, news);
    if let (Dependency::Run(run), true) = (child, is_new) {
        store.wake(crate::backend::Wake::run(*run));
    }
    Ok(is_new)
}
