//! How attempts at messages end, and what a worker does besides.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgflow::pipeline::{Batch, Pipeline, Queue, Settled};
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use tokio::time::timeout;

use crate::pipelines::{PATIENCE, Seen, drained};

#[flow(input = u32)]
mod double {
    use super::*;

    #[step]
    pub(crate) async fn twice(run: u32) -> Result<u32> {
        Ok(run * 2)
    }
}

#[job]
mod halve {
    use super::*;

    #[need]
    pub(crate) async fn half(job: u32) -> Result<Next> {
        Ok(Next::done(job / 2))
    }
}

everywhere!(
    one_worker_does_everything,
    a_batch_that_is_given_back_uses_nothing_up,
    another_batch_is_refused,
    a_batch_key_that_cannot_be_kept_is_an_end
);

/// It kept its worker from everything else.
async fn a_batch_key_that_cannot_be_kept_is_an_end(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let key = |number: &u32| match number % 3 {
        0 => String::new(),
        1 => "k".repeat(300),
        _ if *number == 29 => "good".to_owned(),
        _ => "n\0".to_owned(),
    };
    let pipeline = Pipeline::new("sum", &numbers)
        .process(|number, _ctx| async move { Ok(number) })
        .batch(Batch::len(1).key(key), |batch, _ctx| async move {
            Ok(batch.settle_all(|number| number))
        });
    numbers.push_all(&fresh.db, &(0..30).collect::<Vec<_>>()).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    assert!(working.stop().await?.is_clean());
    let dead = fresh.db.queue("numbers").dead(99).await?;
    assert_eq!(dead.len(), 29, "all but the good one");
    for message in dead {
        let why = message.error.unwrap_or_default();
        assert!(why.contains("what comes next cannot be: the name of the batch key"), "{why}");
    }
    Ok(())
}

/// One slot, and none of the three starves the others.
async fn one_worker_does_everything(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let pipeline = Pipeline::new("sum", &numbers).process(|number, _ctx| async move { Ok(number) });
    fresh.db.register(double::Flow).await?;
    numbers.push_all(&fresh.db, &(0..20).collect::<Vec<_>>()).await?;
    let jobs = fresh.db.submit_all::<halve::half>(0..20).await?;
    let mut runs = Vec::new();
    for number in 0..20 {
        runs.push(fresh.db.start(double::Flow, &number).await?);
    }
    let worker = Worker::new(&fresh.db).flow(double::Flow).job(halve::Job).pipeline(pipeline);
    let working = Working::start(worker.concurrency(1));
    for (number, run) in (0..).zip(&runs) {
        assert_eq!(timeout(PATIENCE, run.output()).await??.twice, number * 2);
    }
    for (number, job) in (0..).zip(&jobs) {
        assert_eq!(timeout(PATIENCE, job.output::<u32>()).await??, number / 2);
    }
    drained(&fresh.db, "numbers").await?;
    assert_eq!(fresh.db.queue("numbers").stats().await?.dead, 0);
    assert!(working.stop().await?.is_clean());
    Ok(())
}

async fn a_batch_that_is_given_back_uses_nothing_up(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(1);
    let seen = Seen::new();
    let saw = seen.clone();
    let pipeline = Pipeline::new("sum", &numbers).batch(Batch::len(2), move |batch, ctx| {
        saw.add(ctx.attempt());
        let is_first = saw.all().len() == 1;
        async move {
            Ok(if is_first { batch.release() } else { batch.settle_all(|number| number) })
        }
    });
    let ids = numbers.push_all(&fresh.db, &[1, 2]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    assert!(working.stop().await?.is_clean());
    assert_eq!(seen.all().len(), 2, "it came again, although there is one attempt");
    for id in &ids {
        let row = fresh.db.job(id).record().await?.summary.row;
        assert_eq!(row.attempts - row.forgiven, 1, "the first one does not count");
    }
    Ok(())
}

/// What was settled of one batch is no end of another.
async fn another_batch_is_refused(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(2);
    let kept: Arc<Mutex<Option<Settled<u32>>>> = Arc::default();
    let pipeline = Pipeline::new("sum", &numbers).batch(Batch::len(1), move |batch, _ctx| {
        let kept = kept.clone();
        async move {
            let own = batch.settle_all(|number| number);
            let mut kept = kept.lock().unwrap();
            if let Some(other) = kept.take() {
                return Ok(other);
            }
            *kept = Some(own);
            Err(Error::retry_after(Duration::ZERO, "kept for later"))
        }
    });
    numbers.push(&fresh.db, &1).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    let dead = fresh.db.queue("numbers").dead(9).await?;
    let why: Vec<_> = dead.iter().filter_map(|message| message.error.as_deref()).collect();
    assert_eq!(why, ["what was settled is another batch"]);
    assert!(working.stop().await?.is_clean());
    Ok(())
}
