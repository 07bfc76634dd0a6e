//! Jobs for people who look after them: what there is, how much waits, who has it.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobProblem, JobState, Seq, check_name};

use super::{JobStanding, JobSummary, JobsOf, Reply};

/// Looking after jobs: the part of the contract that commands and dashboards are built on. Nothing of a job depends on it.
///
/// ```
/// use pgflow_machine::job::NewJob;
/// use pgflow_backend::backend::Backend;
/// use pgflow_backend::memory::Memory;
///
/// # pgflow::testing::block_on(async {
/// let memory = Memory::new();
/// let job = NewJob::new("inv-42".parse().unwrap(), "invoice.ingest", 7);
/// memory.jobs()?.submit_jobs(&[job], "billing").await?;
/// let depths = memory.job_upkeep()?.job_depths(1_000).await?;
/// assert_eq!((&*depths.needs[0].need, depths.needs[0].ready), ("invoice.ingest", 1));
/// assert_eq!(memory.job_upkeep()?.jobs_beginning("inv", 10).await?.len(), 1);
/// memory.job_upkeep()?.pause_needs(&["invoice.ingest".into()], "ann").await?;
/// assert_eq!(memory.job_upkeep()?.paused_needs().await?[0].by, "ann");
/// # Ok::<(), pgflow_backend::backend::BackendError>(())
/// # }).unwrap();
/// ```
pub trait JobUpkeep: Send + Sync {
    /// Live jobs, counted by need and by who has them. No more than `most` are looked at by need; which, is up to the database.
    fn job_depths(&self, most: u64) -> Reply<'_, JobDepths>;

    /// Jobs without payloads: live ones by their places, the last first, or those that ended, the last to end first.
    fn find_jobs<'a>(&'a self, search: &'a JobSearch) -> Reply<'a, Vec<JobSummary>>;

    /// Up to `max` jobs, live or archived, whose names begin like this, by name.
    fn jobs_beginning<'a>(&'a self, beginning: &'a str, max: u32) -> Reply<'a, Vec<JobSummary>>;

    /// Who waits for these jobs: pairs of a job and one that waits for it, by name; of each job up to a hundred.
    fn job_waiters<'a>(&'a self, jobs: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobId)>>;

    /// How many jobs [`prune_jobs`](super::Jobs::prune_jobs) could delete, counted up to `max`.
    fn prunable_jobs(&self, older_than: Duration, max: u64) -> Reply<'_, u64>;

    /// Keeps jobs of these needs from being leased, by whomever; those that are leased go on. Says how many were not paused.
    fn pause_needs<'a>(&'a self, needs: &'a [String], by: &'a str) -> Reply<'a, u64>;

    /// Lets jobs of these needs be leased again. Says how many were paused.
    fn resume_needs<'a>(&'a self, needs: &'a [String]) -> Reply<'a, u64>;

    /// Needs that are paused, by name.
    fn paused_needs(&self) -> Reply<'_, Vec<PausedNeed>>;
}

/// A need whose jobs are not leased, because somebody said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PausedNeed {
    /// The capability.
    pub need: String,
    /// Since when.
    pub since: Timestamp,
    /// Who said so.
    pub by: String,
}

impl PausedNeed {
    /// Names that nobody could have submitted jobs with are refused.
    pub fn check(needs: &[String], by: Option<&str>) -> Result<(), JobProblem> {
        let named =
            |what, name: &str| check_name(name).map_err(|why| JobProblem::Name { what, why });
        by.map_or(Ok(()), |by| named("caller", by))?;
        needs.iter().try_for_each(|need| named("need", need))
    }
}

/// Live jobs, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobDepths {
    /// By need, in the order of their names.
    pub needs: Vec<NeedDepth>,
    /// How many each worker has, by the name that it claims with.
    pub held: BTreeMap<String, u64>,
    /// There may be more live jobs than were counted by need.
    pub is_part: bool,
}

/// Live jobs of a need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeedDepth {
    /// The capability.
    pub need: String,
    /// Jobs that a worker could take now.
    pub ready: u64,
    /// Those that sleep until a moment.
    pub sleeping: u64,
    /// Those that wait for others.
    pub waiting: u64,
    /// Those whose key another one has.
    pub parked: u64,
    /// Those that a worker has.
    pub running: u64,
    /// Those that have lost too many workers in a row.
    pub concern: u64,
    /// Those whose time is over; the next sweep ends them.
    pub expired: u64,
    /// The first in line.
    pub first: Option<JobId>,
    /// How long that one could have been taken.
    pub first_ready: Option<Duration>,
}

impl NeedDepth {
    /// All of them.
    pub fn live(&self) -> u64 {
        let waiting = self.sleeping + self.waiting + self.parked;
        self.ready + waiting + self.running + self.concern + self.expired
    }

    /// Counts jobs of a state.
    pub fn add(&mut self, state: JobState, jobs: u64) {
        *match state {
            JobState::Ready => &mut self.ready,
            JobState::Sleeping => &mut self.sleeping,
            JobState::Waiting => &mut self.waiting,
            JobState::Parked => &mut self.parked,
            JobState::Leased => &mut self.running,
            JobState::Concern => &mut self.concern,
            JobState::Expired => &mut self.expired,
        } += jobs;
    }
}

/// Counts of a database, put together.
#[derive(Debug, Default)]
pub struct Counted {
    needs: BTreeMap<String, NeedDepth>,
    held: BTreeMap<String, u64>,
}

impl Counted {
    /// Jobs of a need that are in a state.
    pub fn add(&mut self, need: String, state: JobState, jobs: u64) {
        self.of(need).add(state, jobs);
    }

    /// The first in line of a need, and since when it could have been taken.
    pub fn first_ready(&mut self, need: String, first: JobId, since: Timestamp, now: Timestamp) {
        let depth = self.of(need);
        (depth.first, depth.first_ready) = (Some(first), Some(since.saturating_until(now)));
    }

    /// Jobs that a worker has.
    pub fn held(&mut self, worker: String, jobs: u64) {
        *self.held.entry(worker).or_default() += jobs;
    }

    /// All of them, if no more than `most` were to be looked at.
    pub fn depths(self, most: u64) -> JobDepths {
        let needs = self.needs.into_iter().map(|(need, depth)| NeedDepth { need, ..depth });
        let needs: Vec<_> = needs.collect();
        let is_part = needs.iter().map(NeedDepth::live).sum::<u64>() >= most;
        JobDepths { needs, held: self.held, is_part }
    }

    fn of(&mut self, need: String) -> &mut NeedDepth {
        self.needs.entry(need).or_default()
    }
}

/// Which jobs to list.
///
/// ```
/// use pgflow::backend::{JobSearch, JobsOf};
/// use pgflow::job::JobOutcome;
///
/// let failed = JobSearch { of: JobsOf::EndedAs(JobOutcome::Failed), ..JobSearch::default() };
/// assert_eq!(failed.max, 50);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSearch {
    /// Live ones, or those that ended.
    pub of: JobsOf,
    /// Of live ones, only those in this state.
    pub state: Option<JobState>,
    /// Only of this need.
    pub need: Option<String>,
    /// Only of this key.
    pub key: Option<String>,
    /// Only those after this place of the list: of the last one of the page before.
    pub after: Option<JobPlace>,
    /// At most so many.
    pub max: u32,
}

impl Default for JobSearch {
    fn default() -> Self {
        let (of, state, need, key) = (JobsOf::Live, None, None, None);
        Self { of, state, need, key, after: None, max: 50 }
    }
}

impl JobSearch {
    /// Whether it asks for this job. Where the list begins is not looked at.
    pub fn is_for(&self, job: &JobSummary) -> bool {
        let is_of = match (self.of, job.standing) {
            (JobsOf::Live, JobStanding::Live(_)) => {
                self.state.is_none_or(|state| job.row.state == state)
            }
            (JobsOf::Ended, JobStanding::Ended(_)) => true,
            (JobsOf::EndedAs(asked), JobStanding::Ended(outcome)) => asked == outcome,
            _ => false,
        };
        let is_needed = self.need.as_ref().is_none_or(|need| job.row.need == *need);
        is_of && is_needed && self.key.as_ref().is_none_or(|key| job.row.key.as_ref() == Some(key))
    }
}

/// A place in a list of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobPlace {
    /// When it ended; nothing if it is live.
    pub ended_at: Option<Timestamp>,
    /// Its place in line.
    pub seq: i64,
}

impl JobSummary {
    /// Its place in a list.
    pub fn place(&self) -> JobPlace {
        let seq = match self.row.seq {
            Seq::Given(seq) => seq,
            // No job that was read is new.
            Seq::New(_) => i64::MAX,
        };
        JobPlace { ended_at: self.ended_at, seq }
    }
}

/// The first text after all that begin with this one; `None` if nothing is.
pub fn after_all(beginning: &str) -> Option<String> {
    let mut text = beginning.to_owned();
    while let Some(last) = text.pop() {
        if let Some(next) = following(last) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// The character after this one; between the two ranges of characters is nothing.
fn following(c: char) -> Option<char> {
    let next = u32::from(c) + 1;
    char::from_u32(next).or_else(|| (next == 0xd800).then_some('\u{e000}'))
}

#[cfg(test)]
mod tests {
    use super::after_all;

    #[test]
    fn texts_that_begin_alike_end_before_the_next() {
        assert_eq!(after_all("inv-4").as_deref(), Some("inv-5"));
        assert_eq!(after_all("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(after_all("\u{d7ff}").as_deref(), Some("\u{e000}"));
        assert_eq!(after_all("\u{10ffff}"), None);
        assert_eq!(after_all(""), None);
    }
}
