//! Ending jobs early.

use serde_json::json;

use super::transition::{Transition, told};
use super::upkeep::lapse;
use super::{Asked, Dependency, JobId, JobNeeds, JobOutcome, JobRows, JobWrites, Jobs, TraceKind};
use crate::{Command, Refusal, Timestamp, cut_error};

/// What became of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCancelled {
    /// The job ended now.
    Cancelled,
    /// A worker has it: it may still finish, and ends when its lease does.
    Asked,
    /// It had ended before, like this.
    Ended(JobOutcome),
    /// There is no such job.
    Unknown,
}

/// Cancels jobs; an answer for each, in their order.
#[derive(Clone, Copy, Debug)]
pub struct CancelJobs<'a> {
    /// Which ones.
    pub jobs: &'a [JobId],
    /// Who wants it.
    pub by: &'a str,
    /// Why.
    pub reason: Option<&'a str>,
}

impl Command<Jobs> for CancelJobs<'_> {
    type Answer = Vec<JobCancelled>;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.ends(rows, self.jobs.iter().cloned().map(Dependency::Job));
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Vec<JobCancelled>, JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, Some(self.by));
        let answers = self.jobs.iter().map(|id| self.cancel(&mut transition, id)).collect();
        Ok((answers, transition.done()?))
    }
}

impl CancelJobs<'_> {
    fn cancel(&self, transition: &mut Transition<'_, '_>, id: &JobId) -> JobCancelled {
        lapse(transition, id);
        if let Some(ended) = transition.rows.archived.get(id) {
            return JobCancelled::Ended(ended.outcome);
        }
        let reason = self.reason.map(|reason| cut_error(reason).replace('\0', "\u{fffd}"));
        let asked = Asked { by: self.by.to_owned(), at: transition.now, reason: reason.clone() };
        let Some(row) = transition.rows.jobs.get(id) else { return JobCancelled::Unknown };
        let (is_held, is_asked) = (row.lease.is_some(), row.cancel.is_some());
        if let Some(row) = transition.change(id).filter(|_| !is_asked) {
            row.cancel = Some(asked);
        }
        if !is_held {
            transition.end_cancelled(id);
            return JobCancelled::Cancelled;
        }
        if !is_asked {
            let detail = json!({ "reason": told(reason.as_deref()), "was_active": true });
            transition.trace_with(id, TraceKind::CancelAsked, None, Some(detail));
        }
        JobCancelled::Asked
    }
}
