//! Taking tasks back from workers that are gone.

use super::{
    Command, MAX_REQUEUES, Needs, Rows, TaskKey, TaskRef, TaskRow, TaskWrite, Writes, stalled_error,
};
use crate::{Refusal, RunId, TaskStatus, Timestamp};

/// Takes back those of these tasks that are lost, and ends steps that lost too many. Says how many were queued again.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Tasks that a look has found lost; whether they are is looked at again under the lock.
    pub lost: Vec<TaskKey>,
}

impl Command for Sweep {
    type Answer = u64;

    fn needs(&self) -> Needs {
        Needs::of_tasks(&self.lost)
    }

    fn more(&self, rows: &Rows) -> Needs {
        let mut needs = Needs::default();
        let mut hopeless: Vec<(RunId, usize)> = self
            .lost
            .iter()
            .filter_map(|key| rows.find(key))
            .filter(|at| rows.tasks.get(at).is_some_and(TaskRow::is_hopeless))
            .map(|at| (at.run, at.step))
            .collect();
        hopeless.sort_unstable();
        hopeless.dedup();
        for of_run in hopeless.chunk_by(|a, b| a.0 == b.0) {
            let ending: Vec<_> = of_run.iter().map(|(_, step)| *step).collect();
            needs.conditions(of_run[0].0, &rows.runs[&of_run[0].0], &ending);
        }
        needs
    }

    fn decide<'c>(&'c self, rows: &mut Rows, now: Timestamp) -> Result<(u64, Writes<'c>), Refusal> {
        let mut writes = Writes::default();
        let mut keys: Vec<_> = self.lost.iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let lost = keys.into_iter().filter_map(|key| rows.find(key));
        let is_lost = |at: &TaskRef| rows.tasks.get(at).is_some_and(|row| row.is_lost(now));
        let lost: Vec<_> = lost.filter(is_lost).collect();
        let (hopeless, others): (Vec<_>, Vec<_>) =
            lost.into_iter().partition(|at| rows.tasks[at].is_hopeless());
        for at in hopeless {
            end_stalled(at, rows, &mut writes)?;
        }
        let mut requeued = 0;
        for at in others.into_iter().filter(|at| rows.is_live(*at)) {
            let row = rows.tasks[&at].lost().queued(now);
            writes.tasks.push(TaskWrite { at, row, error: None, yielded: None, output: None });
            requeued += 1;
        }
        Ok((requeued, writes))
    }
}

/// Ends the step of a task that was lost too often, unless it has ended.
fn end_stalled(at: TaskRef, rows: &mut Rows, writes: &mut Writes<'_>) -> Result<(), Refusal> {
    if !rows.is_live(at) {
        return Ok(());
    }
    let row = rows.tasks[&at];
    let error = stalled_error(at.index, row.losses);
    if let Some((exhausted, change)) = rows.turn(at.run, |turn| turn.exhaust(at.step, &error)) {
        exhausted?;
        writes.change(at.run, change);
    }
    // It stays as it was when its worker was lost.
    let row = row.lost().ended(TaskStatus::Started);
    writes.tasks.push(TaskWrite { at, row, error: Some(error), yielded: None, output: None });
    Ok(())
}

impl TaskRow {
    fn is_lost(&self, now: Timestamp) -> bool {
        self.status == TaskStatus::Started && self.lost_after.is_some_and(|after| after < now)
    }

    fn is_hopeless(&self) -> bool {
        self.losses >= MAX_REQUEUES
    }

    fn lost(self) -> Self {
        Self { losses: self.losses + 1, ..self }
    }
}
