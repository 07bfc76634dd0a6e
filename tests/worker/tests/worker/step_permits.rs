//! Steps that hold resources and keep to rates.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pgflow::pipeline::Rate;
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use tokio::time::{sleep, timeout};

use crate::job_permits::Crowd;

#[flow(input = Vec<u32>)]
mod render {
    use super::*;

    #[step(map, resources = ["gpu"], rate = "frames", base_delay = 1)]
    pub(crate) async fn frame(item: u32, State(crowd): State<Crowd>, ctx: Context) -> Result<u32> {
        crowd.pass().await;
        if item == 3 && ctx.attempt() == 1 {
            return Err(Error::retry_after(Duration::ZERO, "again"));
        }
        Ok(item * 10)
    }

    #[step(depends_on = [frame])]
    pub(crate) async fn film(frame: Vec<u32>) -> Result<u32> {
        Ok(frame.into_iter().sum())
    }

    #[step(depends_on = [film], resources = ["gpu"])]
    pub(crate) async fn poster(film: u32, State(crowd): State<Crowd>) -> Result<u32> {
        crowd.pass().await;
        Ok(film + 1)
    }
}

#[flow(input = bool, timeout = 3600)]
mod long {
    use super::*;

    #[step(resources = ["gpu"])]
    pub(crate) async fn hold(run: bool) -> Result<u32> {
        if run {
            std::future::pending::<()>().await;
        }
        Ok(1)
    }
}

everywhere!(
    one_at_a_time_over_workers,
    what_was_never_declared_is_refused_by_its_name,
    what_a_cancelled_run_held_is_had_by_the_next
);

/// No lease lapses in time here: the worker is told that the run has ended, and says when its handler has.
async fn what_a_cancelled_run_held_is_had_by_the_next(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.resource("gpu").capacity(1).await?;
    db.register(long::Flow).await?;
    let worker = Working::start(Worker::new(db).flow(long::Flow));
    let first = db.start(long::Flow, &true).await?;
    let held = async || Outcome::Ok(db.resource("gpu").get().await?.expect("it is there").1);
    while held().await? == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    let second = db.start(long::Flow, &false).await?;
    first.cancel(None).await?;
    assert_eq!(timeout(Duration::from_mins(1), second.output()).await??.hold, 1);
    assert_eq!(held().await?, 0);
    assert!(worker.stop().await?.is_clean());
    Ok(())
}

async fn one_at_a_time_over_workers(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.resource("gpu").capacity(1).await?;
    db.rate("frames").set(Rate::per_hour(1).burst(3)).await?;
    db.register(render::Flow).await?;
    let crowd = Crowd::default();
    let mut workers = Vec::new();
    for _ in 0..3 {
        let worker = Worker::new(db).flow(render::Flow).state(crowd.clone());
        workers.push(Working::start(worker));
    }
    let run = db.start(render::Flow, &vec![0, 1, 2, 3, 4, 5]).await?;
    let grants = async || Outcome::Ok(db.resource("gpu").get().await?.expect("it is there"));
    timeout(Duration::from_mins(1), async {
        while grants().await?.0.fence < 3 || grants().await?.1 > 0 {
            sleep(Duration::from_millis(20)).await;
        }
        Outcome::Ok(())
    })
    .await??;
    sleep(Duration::from_millis(500)).await;
    assert_eq!(grants().await?.0.fence, 3, "the burst has three tokens");
    let why = db.why(run.id()).await?;
    assert_eq!(why.reasons[0].code(), "rate", "{why}");
    assert!(why.to_string().contains("of step `frame` ready for"), "{why}");
    assert!(why.to_string().contains("rate `frames` is used up"), "{why}");
    db.rate("frames").set(Rate::per_second(100).burst(100)).await?;
    let output = timeout(Duration::from_mins(1), run.output()).await??;
    assert_eq!(output.poster, 151);
    assert_eq!(crowd.most.load(Ordering::SeqCst), 1, "one holder at a time, over all workers");
    let (gpu, held) = grants().await?;
    assert_eq!((gpu.fence, held), (8, 0), "a grant per attempt, and nothing is held");
    for worker in workers {
        assert!(worker.stop().await?.is_clean());
    }
    Ok(())
}

async fn what_was_never_declared_is_refused_by_its_name(fresh: Fresh) -> Outcome {
    let start = async || {
        let worker = Worker::new(&fresh.db).flow(render::Flow).state(Crowd::default());
        let started = timeout(Duration::from_secs(30), worker.run(sleep(Duration::from_secs(1))));
        Outcome::Ok(started.await?.map_err(|error| error.to_string()))
    };
    fresh.db.register(render::Flow).await?;
    let error = start().await?.expect_err("nobody said what a gpu is");
    assert!(error.contains("there is no resource `gpu`"), "{error}");
    fresh.db.resource("gpu").capacity(2).await?;
    let error = start().await?.expect_err("nobody said how many frames");
    assert!(error.contains("frames"), "{error}");
    fresh.db.rate("frames").set(Rate::per_second(10)).await?;
    assert!(start().await?.is_ok());
    Ok(())
}
