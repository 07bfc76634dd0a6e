//! Jobs that failed, opened again.

use std::time::Duration;

use super::submit::check_span;
use super::transition::Transition;
use super::{JobId, JobNeeds, JobOutcome, JobProblem, JobRow, JobRows, JobWrites, Jobs, TraceKind};
use crate::{Command, Refusal, Timestamp};

/// What became of a redrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redriven {
    /// The job is live again.
    Redriven,
    /// It ended otherwise than failed or crashed.
    Ended(JobOutcome),
    /// It is live.
    Live,
    /// There is no such job.
    Unknown,
}

/// Opens failed and crashed jobs again, with a fresh budget; an answer for each. What they were through stays counted.
#[derive(Clone, Copy, Debug)]
pub struct Redrive<'a> {
    /// Which ones.
    pub jobs: &'a [JobId],
    /// Who does it.
    pub by: &'a str,
    /// Each one may be claimed so much later than the one before.
    pub spacing: Duration,
}

impl Redrive<'_> {
    /// Whether the last of them can be claimed in some time.
    pub fn check(&self) -> Result<(), JobProblem> {
        let many = u32::try_from(self.jobs.len()).unwrap_or(u32::MAX);
        check_span("moment of the last one", self.spacing.saturating_mul(many))
    }
}

impl Command<Jobs> for Redrive<'_> {
    type Answer = Vec<Redriven>;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.lines_of(rows, self.jobs);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Vec<Redriven>, JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, Some(self.by));
        let mut nth = 0;
        let answers = self.jobs.iter().map(|id| {
            let answer = redrive(&mut transition, id, self.spacing.saturating_mul(nth));
            nth += u32::from(answer == Redriven::Redriven);
            answer
        });
        let answers = answers.collect();
        Ok((answers, transition.done()?))
    }
}

fn redrive(transition: &mut Transition<'_, '_>, id: &JobId, delay: Duration) -> Redriven {
    if transition.rows.jobs.contains_key(id) {
        return Redriven::Live;
    }
    let Some(ended) = transition.rows.archived.get(id) else { return Redriven::Unknown };
    if !ended.outcome.is_dead() {
        return Redriven::Ended(ended.outcome);
    }
    let row = ended.row.redriven(transition.now, delay);
    transition.rows.archived.remove(id);
    transition.rows.jobs.insert(id.clone(), row);
    transition.writes.restored.insert(id.clone());
    transition.trace(id, TraceKind::Redriven, None);
    transition.arrive(id);
    Redriven::Redriven
}

impl JobRow {
    fn redriven(&self, now: Timestamp, delay: Duration) -> Self {
        Self {
            forgiven: self.attempts,
            streak: 0,
            waits: 0,
            wake_at: (!delay.is_zero()).then(|| now + delay),
            // It would be over at once.
            expires_at: self.expires_at.filter(|_| !self.is_expired(now)),
            cancel: None,
            ..self.clone()
        }
    }
}
