//! What can be waited for.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobId, JobOutcome};
use pgflow_machine::{RunId, RunStatus};

use super::driver::FALLBACK;
use crate::backend::{Backend, JobStanding, Reply, RunSummary};
use crate::client::ClientError;

/// Something that ends.
pub(crate) trait Awaited: Debug + Sized + Send + Sync + 'static {
    /// Its name.
    type Id: Clone + Debug + Eq + Hash + Send + Sync + 'static;
    /// How it ended.
    type End: Copy + Debug + Send + 'static;

    /// How long after a new waiter all are looked at again without a hint; each further time twice as long, up to
    /// [`FALLBACK`].
    const FIRST_LOOK: Duration;

    /// Looks at these, without anything that they carry.
    fn look(backend: &dyn Backend, ids: Vec<Self::Id>) -> Reply<'_, Vec<Seen<Self>>>;

    /// There is no such thing.
    fn unknown(id: &Self::Id) -> ClientError;
}

/// What a look found.
pub(crate) struct Seen<A: Awaited> {
    pub(super) id: A::Id,
    pub(super) end: Option<A::End>,
    /// What hints about it are about.
    pub(super) topic: Option<Arc<str>>,
}

/// Ends of runs, which are hinted at with their flow.
#[derive(Debug)]
pub(crate) enum RunEnds {}

impl Awaited for RunEnds {
    type Id = RunId;
    type End = RunStatus;

    const FIRST_LOOK: Duration = FALLBACK;

    fn look(backend: &dyn Backend, ids: Vec<RunId>) -> Reply<'_, Vec<Seen<Self>>> {
        Box::pin(async move {
            let seen = |run: RunSummary| Seen {
                id: run.id,
                end: run.status.has_ended().then_some(run.status),
                topic: Some(run.flow.into()),
            };
            Ok(backend.statuses(&ids).await?.into_iter().map(seen).collect())
        })
    }

    fn unknown(run: &RunId) -> ClientError {
        ClientError::UnknownRun { run: *run }
    }
}

/// Ends of jobs. Nobody is told of each: that would cost more than looks at all that are waited for.
#[derive(Debug)]
pub(crate) enum JobEnds {}

impl Awaited for JobEnds {
    type Id = JobId;
    type End = JobOutcome;

    const FIRST_LOOK: Duration = Duration::from_millis(10);

    fn look(backend: &dyn Backend, ids: Vec<JobId>) -> Reply<'_, Vec<Seen<Self>>> {
        Box::pin(async move {
            let seen = |(id, standing)| {
                let end = match standing {
                    JobStanding::Ended(outcome) => Some(outcome),
                    JobStanding::Live(_) => None,
                };
                Seen { id, end, topic: None }
            };
            let standings = backend.jobs()?.job_standings(&ids).await?;
            Ok(standings.into_iter().map(seen).collect())
        })
    }

    fn unknown(job: &JobId) -> ClientError {
        ClientError::UnknownJob { job: job.clone() }
    }
}

pub(in crate::client) fn statuses(
    backend: &dyn Backend,
    runs: Vec<RunId>,
) -> Reply<'_, Vec<RunSummary>> {
    Box::pin(async move { backend.statuses(&runs).await })
}
