//! Needs that hold resources and keep to rates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::backend::{JobQuery, JobsOf};
use pgflow::job::JobOutcome;
use pgflow::pipeline::Rate;
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use tokio::time::{sleep, timeout};

/// How many are at it, and were at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    now: Arc<AtomicU32>,
    pub(crate) most: Arc<AtomicU32>,
}

impl Crowd {
    pub(crate) async fn pass(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        sleep(Duration::from_millis(20)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[job]
mod render {
    use super::*;

    #[need(resources = ["gpu"], rate = "frames")]
    pub(crate) async fn frame(
        job: u32,
        State(crowd): State<Crowd>,
        ctx: JobContext,
    ) -> Result<Next> {
        crowd.pass().await;
        if job == 3 && ctx.attempt() == 1 {
            return Err(Error::retry_after(Duration::ZERO, "again"));
        }
        Ok(Next::to::<encode>(job))
    }

    #[need]
    pub(crate) async fn encode(job: u32) -> Result<Next> {
        Ok(Next::done(job * 10))
    }

    #[need(resources = ["gpu"])]
    pub(crate) async fn booked(job: u32, tx: &mut Tx, State(crowd): State<Crowd>) -> Result<Next> {
        crowd.pass().await;
        if tx.mysql().is_none() && tx.sqlite().is_none() && tx.postgres().is_none() {
            return Err(Error::fatal("there is a transaction"));
        }
        Ok(Next::done(job))
    }
}

#[job]
mod plain {
    use super::*;

    #[need(resources = ["gpu"], rate = "frames")]
    pub(crate) async fn frame(job: u32) -> Result<Next> {
        Ok(Next::done(job))
    }
}

on!(memory: what_was_never_declared_is_refused_by_its_name);
on!(sqlite: one_at_a_time_over_workers, what_was_never_declared_is_refused_by_its_name);
on!(mysql: one_at_a_time_over_workers, what_was_never_declared_is_refused_by_its_name);
on!(postgres: one_at_a_time_over_workers, what_was_never_declared_is_refused_by_its_name);

async fn one_at_a_time_over_workers(fresh: Fresh) -> Outcome {
    fresh.db.resource("gpu").capacity(1).await?;
    fresh.db.rate("frames").set(Rate::per_hour(1).burst(6)).await?;
    let crowd = Crowd::default();
    let mut workers = Vec::new();
    for _ in 0..3 {
        let db = Db::connect(&fresh.url).await?;
        let worker = Worker::new(&db).job(render::Job).state(crowd.clone());
        workers.push(Working::start(worker));
    }
    let frames = fresh.db.submit_all::<render::frame>(0..8).await?;
    let booked = fresh.db.submit_all::<render::booked>(0..4).await?;
    for (n, job) in (0..).zip(&booked) {
        assert_eq!(job.output::<u32>().await?, n);
    }
    let ended = async || {
        let (of, need) = (JobsOf::EndedAs(JobOutcome::Done), Some("render.encode".to_owned()));
        let query = JobQuery { of, need, after: None, max: 100 };
        Outcome::Ok(fresh.db.jobs(&query).await?.len())
    };
    timeout(Duration::from_mins(1), async {
        while ended().await? < 5 {
            sleep(Duration::from_millis(20)).await;
        }
        Outcome::Ok(())
    })
    .await??;
    sleep(Duration::from_millis(500)).await;
    assert_eq!(ended().await?, 5, "the burst has six tokens, and one failed");
    fresh.db.rate("frames").set(Rate::per_second(100).burst(100)).await?;
    for (n, job) in (0..).zip(&frames) {
        assert_eq!(job.output::<u32>().await?, n * 10);
    }
    assert_eq!(crowd.most.load(Ordering::SeqCst), 1, "one holder at a time, over all workers");
    let (gpu, held) = fresh.db.resource("gpu").get().await?.expect("it was declared");
    assert_eq!((gpu.fence, held), (13, 0), "a grant per attempt, and nothing is held");
    for worker in workers {
        assert!(worker.stop().await?.is_clean());
    }
    Ok(())
}

async fn what_was_never_declared_is_refused_by_its_name(fresh: Fresh) -> Outcome {
    let start = async || {
        let worker = Worker::new(&fresh.db).job(plain::Job);
        let started = timeout(Duration::from_secs(30), worker.run(sleep(Duration::from_secs(1))));
        Outcome::Ok(started.await?.map_err(|error| error.to_string()))
    };
    let error = start().await?.expect_err("nobody said what a gpu is");
    assert!(error.contains("there is no resource `gpu`"), "{error}");
    fresh.db.resource("gpu").capacity(2).await?;
    let error = start().await?.expect_err("nobody said how many frames");
    assert!(error.contains("frames"), "{error}");
    fresh.db.rate("frames").set(Rate::per_second(10)).await?;
    assert!(start().await?.is_ok());
    Ok(())
}
