//! Leases that last longer.

use std::time::Duration;

use super::claim::check_lease;
use super::{JobBeat, JobHold, JobNeeds, JobProblem, JobRows, JobWrites, Jobs};
use crate::{Command, Refusal, Timestamp};

/// Says that jobs are still being worked on; an answer for each, in their order.
#[derive(Clone, Copy, Debug)]
pub struct BeatJobs<'a> {
    /// What the worker holds.
    pub holds: &'a [JobHold],
    /// How long from now the leases last.
    pub lease: Duration,
}

impl BeatJobs<'_> {
    /// Whether it makes sense.
    pub fn check(&self) -> Result<(), JobProblem> {
        check_lease(self.lease)
    }
}

impl Command<Jobs> for BeatJobs<'_> {
    type Answer = Vec<JobBeat>;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.holds.iter().map(|hold| &hold.job))
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Vec<JobBeat>, JobWrites<'c>), Refusal> {
        let mut writes = JobWrites::default();
        let beat = |hold: &JobHold| {
            let held = rows.jobs.get_mut(&hold.job).filter(|row| row.is_held_with(&hold.token));
            let Some(row) = held else { return JobBeat::Lost };
            if row.cancel.is_some() {
                return JobBeat::Cancelled;
            }
            if let Some(lease) = &mut row.lease {
                lease.until = now + self.lease;
            }
            // Nothing of the job's own row changes.
            writes.leases.insert(hold.job.clone());
            JobBeat::Extended
        };
        let answers = self.holds.iter().map(beat).collect();
        Ok((answers, writes))
    }
}

/// Whether a lease holds, and its job is not cancelled: what is said with it takes effect.
#[derive(Clone, Copy, Debug)]
pub struct HoldsJob<'a> {
    /// The lease.
    pub hold: &'a JobHold,
}

impl Command<Jobs> for HoldsJob<'_> {
    type Answer = bool;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs([&self.hold.job])
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        _now: Timestamp,
    ) -> Result<(bool, JobWrites<'c>), Refusal> {
        let row = rows.jobs.get(&self.hold.job);
        let holds =
            row.is_some_and(|row| row.is_held_with(&self.hold.token) && row.cancel.is_none());
        Ok((holds, JobWrites::default()))
    }
}
