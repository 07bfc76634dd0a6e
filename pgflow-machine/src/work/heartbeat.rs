//! Leases that last longer, and whether one holds.

use super::{Beat, Command, Lease, Needs, Rows, TaskLease, TaskWrite, Writes, lease::extended};
use crate::{Refusal, RunStatus, Timestamp};

/// Says that tasks are still being worked on; an answer per lease, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat<'a> {
    /// What the worker holds.
    pub leases: &'a [Lease],
}

impl Command for Heartbeat<'_> {
    type Answer = Vec<Beat>;

    fn needs(&self) -> Needs {
        Needs::of_leases(self.leases)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<(Vec<Beat>, Writes<'c>), Refusal> {
        let mut writes = Writes::default();
        let answers = self.leases.iter().map(|lease| beat(lease, rows, now, &mut writes)).collect();
        Ok((answers, writes))
    }
}

fn beat(lease: &Lease, rows: &mut Rows, now: Timestamp, writes: &mut Writes<'_>) -> Beat {
    let Some(lease) = lease.task() else { return Beat::Lost };
    let Some(at) = rows.find(&lease.task) else { return Beat::Lost };
    let run = &rows.runs[&at.run];
    let Some(standing) = rows.standing(at) else {
        let has_ended = matches!(run.state.status, RunStatus::Failed | RunStatus::Cancelled);
        return if has_ended { Beat::Cancelled } else { Beat::Lost };
    };
    let beat = standing.beat(lease.attempt);
    let step = run.version.plan.step(at.step);
    if let Some(row) = rows.tasks.get_mut(&at).filter(|_| beat == Beat::Extended) {
        let until = extended(now, row.lost_after, step);
        // A lease that is named twice is written once.
        if row.lost_after.replace(until) != Some(until) {
            writes.tasks.push(TaskWrite {
                at,
                row: *row,
                error: None,
                yielded: None,
                output: None,
            });
        }
    }
    beat
}

/// Which leases hold: what is said with them takes effect.
#[derive(Clone, Copy, Debug)]
pub struct Holds<'a> {
    /// The leases.
    pub leases: &'a [Lease],
}

impl Command for Holds<'_> {
    type Answer = Vec<bool>;

    fn needs(&self) -> Needs {
        Needs::of_leases(self.leases)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        _now: Timestamp,
    ) -> Result<(Vec<bool>, Writes<'c>), Refusal> {
        let applies = |lease: &TaskLease| {
            let standing = rows.find(&lease.task).and_then(|at| rows.standing(at));
            standing.is_some_and(|standing| standing.applies(lease.attempt))
        };
        let holds = self.leases.iter().map(|lease| lease.task().is_some_and(applies)).collect();
        Ok((holds, Writes::default()))
    }
}
