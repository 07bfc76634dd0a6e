//! Jobs through the contract, without a worker, as many connections at once have it: submitting, the cycle of a worker in shallow and
//! deep lines, claims that come back empty, joins.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use pgflow::Db;
use pgflow::backend::{Backend, BackendError, Jobs};
use pgflow_machine::job::{
    JobClaim, JobHold, JobId, JobSettle, JobSettled, JobVerdict, NewJob, Wait,
};
use serde_json::{Value, json};

use super::Bench;
use super::place::Spent;
use super::reading::Reading;
use crate::cases::{CLAIMS, EMPTY, FILL, PATIENCE, share_out};
use crate::error::Result;
use crate::jobs::Names;

pub(super) const CYCLE: &str = "claim, finish, submit";
pub(super) const JOIN: &str = "fork and join";

const NEED: &str = "bench.job";
const WORKER: &str = "bench";
const LEASE: Duration = Duration::from_mins(10);

/// Callers at the same time.
const LANES: usize = 8;
/// Jobs per call.
const BATCH: u32 = 50;
/// Jobs that a claim of the case about empty ones asks for.
const EACH: u32 = 10;

/// A transaction per job, and per batch.
pub(super) async fn submit(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let line = Line::open(bench).await?;
    let jobs = bench.sizes.jobs;
    let (single, spent) = line.measure(bench, (1, jobs / 5), Line::submit).await?;
    let one_by_one = Reading::new("one by one", "job", single, spent);
    let (many, spent) = line.measure(bench, (BATCH, jobs), Line::submit).await?;
    let batched = Reading::new("in batches", "job", many, spent).at(BATCH);
    line.close(bench, "worker-jobs-submit").await?;
    Ok(vec![one_by_one, batched])
}

/// What workers do all day, with few and with many jobs in line.
pub(super) async fn cycle(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &live in bench.sizes.live_jobs {
        let line = Line::open(bench).await?;
        line.fill(live).await?;
        let (done, spent) = line.measure(bench, (BATCH, bench.sizes.jobs), Line::turn).await?;
        readings.push(Reading::new(CYCLE, "job", done, spent).at(live));
        line.close(bench, "worker-jobs-cycle").await?;
    }
    Ok(readings)
}

/// How often a claim comes back empty although there is work for all.
pub(super) async fn empty(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let line = Line::open(bench).await?;
    let jobs = bench.sizes.jobs;
    // So much more that none is without work at the end.
    line.fill(jobs + jobs / 4 + EACH * 100).await?;
    let empty = Cell::new(0);
    let claim = async |line: &Line, share| {
        let held = line.claim(share).await?;
        empty.set(empty.get() + u32::from(held.is_empty()));
        Result::<u32>::Ok(1)
    };
    let (claims, spent) = line.measure(bench, (EACH, jobs), claim).await?;
    line.close(bench, "worker-jobs-empty").await?;
    Ok(vec![
        Reading::new(CLAIMS, "claim", claims, spent),
        Reading::new(EMPTY, "claim", empty.get(), spent),
    ])
}

/// Children, a job that waits for all of them, and the end of each.
pub(super) async fn join(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &children in bench.sizes.joins {
        let line = Line::open(bench).await?;
        let mark = bench.place.mark()?;
        line.fork(children).await?;
        let fork = bench.place.since(&mark)?;
        let (ended, spent) = line.measure(bench, (BATCH, children), Line::finish).await?;
        // If time was up, the fork counts for those that ended.
        let spent = spent.plus(fork.scaled(f64::from(ended) / f64::from(children)));
        readings.push(Reading::new(JOIN, "job", ended, spent).at(children));
        line.close(bench, "worker-jobs-join").await?;
    }
    Ok(readings)
}

/// Jobs of one need, in a database that has no others of this benchmark.
struct Line {
    db: Db,
    backend: Arc<dyn Backend>,
    names: Names,
}

impl Line {
    async fn open(bench: &Bench<'_, '_>) -> Result<Self> {
        let db = bench.place.connect().await?;
        let (backend, names) = (Arc::clone(db.backend()), bench.place.job_names());
        Ok(Self { db, backend, names })
    }

    async fn close(self, bench: &mut Bench<'_, '_>, case: &str) -> Result<()> {
        self.db.close().await?;
        bench.place.tidy_up(case).await
    }

    fn jobs(&self) -> Result<&dyn Jobs, BackendError> {
        self.backend.jobs()
    }

    /// Lets the callers do so much, a share at a time.
    async fn measure(
        &self,
        bench: &Bench<'_, '_>,
        shares: (u32, u32),
        work: impl AsyncFn(&Self, u32) -> Result<u32>,
    ) -> Result<(u32, Spent)> {
        let mark = bench.place.mark()?;
        let window = bench.sizes.window;
        let work = async |(): &mut (), share| work(self, share).await;
        let done = share_out(&mut [(); LANES], shares, window, work).await?;
        Ok((done, bench.place.since(&mark)?))
    }

    async fn fill(&self, jobs: u32) -> Result<()> {
        let fill = async |(): &mut (), share| self.submit(share).await;
        share_out(&mut [(); LANES], (FILL, jobs), PATIENCE, fill).await?;
        Ok(())
    }

    async fn submit(&self, jobs: u32) -> Result<u32> {
        let new: Vec<_> = self.names.take(jobs).into_iter().map(new).collect();
        self.send(&new).await?;
        Ok(jobs)
    }

    async fn send(&self, jobs: &[NewJob]) -> Result<()> {
        for answer in self.jobs()?.submit_jobs(jobs, WORKER).await? {
            answer.map_err(BackendError::from)?;
        }
        Ok(())
    }

    async fn fork(&self, children: u32) -> Result<()> {
        let children: Vec<_> = self.names.take(children).into_iter().map(new).collect();
        for part in children.chunks(BATCH as usize) {
            self.send(part).await?;
        }
        let after: Vec<_> = children.iter().map(|child| Wait::job(child.id.clone())).collect();
        let join = |name| NewJob { after: after.clone(), ..new(name) };
        let joins: Vec<_> = self.names.take(1).into_iter().map(join).collect();
        self.send(&joins).await
    }

    async fn claim(&self, max: u32) -> Result<Vec<JobHold>> {
        let (worker, needs) = (WORKER.to_owned(), vec![NEED.to_owned()]);
        let claim = JobClaim { worker, needs, lease: LEASE, max };
        let claimed = self.jobs()?.claim_jobs(&claim).await?;
        Ok(claimed.jobs.into_iter().map(|job| job.taken.hold).collect())
    }

    /// Claims so many and finishes what it got.
    async fn finish(&self, max: u32) -> Result<u32> {
        let held = self.claim(max).await?;
        let settles: Vec<_> = held
            .into_iter()
            .map(|hold| JobSettle::new(hold, JobVerdict::Finished(Value::Null)))
            .collect();
        if settles.is_empty() {
            return Ok(0);
        }
        let settled = self.jobs()?.settle_jobs(&settles, WORKER).await?;
        let done = settled.iter().filter(|settled| **settled == JobSettled::Applied).count();
        Ok(u32::try_from(done).unwrap_or(0))
    }

    /// The same, and submits as many.
    async fn turn(&self, max: u32) -> Result<u32> {
        let finished = self.finish(max).await?;
        self.submit(finished).await
    }
}

fn new(name: String) -> NewJob {
    NewJob::new(JobId::from_stored(name), NEED, json!({ "n": 1 }))
}
