//! What the end of a run or step means for waits.

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{ChildEnd, ChildStatus, orphaned};
use pgflow_machine::{Effect, Entry, Rows, RunId, RunRow, RunStatus, StepStatus, Version, Writes};

use crate::store::{Session, Stored, WaitsOf};

/// Steps and runs that end and may have to do with waits.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// Runs, or steps of them, whose waits are over, and why their children are cancelled.
    closed: Vec<(RunId, Option<String>, String)>,
    /// Runs that a task may wait for.
    ended: Vec<(Dependency, ChildEnd)>,
}

impl Ends {
    /// Of what is about to be written. Runs without ties are not looked at.
    pub(crate) fn of(rows: &Rows, writes: &Writes<'_>) -> Self {
        let mut ends = Self::default();
        for (run, ties) in &rows.ties {
            let (Some(change), Some(row)) = (writes.changes.get(run), rows.runs.get(run)) else {
                continue;
            };
            if ties.waits {
                ends.close(*run, row, &change.effects);
            }
            let end = run_end(row, &change.log).filter(|_| ties.awaited && change.run);
            ends.ended.extend(end.map(|end| (Dependency::Run(*run), end)));
        }
        ends
    }

    fn close(&mut self, run: RunId, row: &RunRow, effects: &[Effect]) {
        let reason = orphaned(run, row.state.status);
        for effect in effects {
            let step = match effect {
                Effect::DropRun => None,
                Effect::DropStep { step } => Some(row.version.plan.step(*step).slug.to_string()),
                _ => continue,
            };
            self.closed.push((run, step, reason.clone()));
        }
    }
}

/// How a run ended, if it has: with the error of the step that failed, or why it was cancelled, as its log says.
pub(super) fn run_end(row: &RunRow, log: &[Entry]) -> Option<ChildEnd> {
    let status = ChildStatus::of_run(row.state.status)?;
    let reason = log.iter().rev().find_map(|entry| match entry {
        Entry::RunCancelled { reason } => reason.clone(),
        _ => None,
    });
    let failed = row.state.steps.iter().find(|step| step.status == StepStatus::Failed);
    let message = reason.or_else(|| failed?.error.clone());
    Some(ChildEnd { status, message })
}

/// Closes waits, and tells those who wait. Says whether something is left to be done after the commit.
pub(crate) async fn untie<S: Session>(session: &mut S, ends: &Ends) -> Stored<bool> {
    let mut orphans = 0;
    for (run, step, reason) in &ends.closed {
        let of = step.as_deref().map_or(WaitsOf::Run(*run), |step| WaitsOf::Step(*run, step));
        orphans += session.close_waits(of, reason).await?;
    }
    let noted = if ends.ended.is_empty() { 0 } else { session.note_ends(&ends.ended).await? };
    Ok(orphans + noted > 0)
}

/// Before a version is deleted with its runs: their children are orphans, and those who wait for one of them are told,
/// also if it had ended, because what it put out is gone.
pub(crate) async fn untie_version<S: Session>(session: &mut S, version: &Version) -> Stored<()> {
    let tied = session.tied_runs(version).await?;
    for (run, _) in tied.iter().filter(|(_, ties)| ties.waits) {
        let reason = orphaned(*run, RunStatus::Started);
        session.close_waits(WaitsOf::Run(*run), &reason).await?;
    }
    let deleted = ChildEnd { status: ChildStatus::Deleted, message: None };
    let awaited = tied.iter().filter(|(_, ties)| ties.awaited);
    let ends: Vec<_> = awaited.map(|(run, _)| (Dependency::Run(*run), deleted.clone())).collect();
    if ends.is_empty() { Ok(()) } else { session.replace_ends(&ends).await }
}
