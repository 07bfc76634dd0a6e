//! Pipelines that telemetry is about.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow::Db;
use pgflow::pipeline::{Batch, Pipeline, Queue, Rate};
use pgflow::prelude::*;
use pgflow_worker_tests::{Outcome, Working, virtual_memory};
use tokio::time::{sleep, timeout};

use crate::documented;
use crate::jobs::sum;
use crate::recorder::Seen;

/// Waits until a gauge of a queue shows this.
async fn shows(seen: &Seen, name: &str, queue: &str, wanted: f64) -> Outcome {
    let shown = || sum(seen, name, &[("queue", queue)]);
    let showing = timeout(Duration::from_mins(1), async {
        while shown() != Some(wanted) {
            sleep(Duration::from_millis(20)).await;
        }
    });
    Ok(showing.await.map_err(|_| format!("{name} is {:?}, and not {wanted}", shown()))?)
}

/// Ten numbers, of which one cannot be read, one is dead after two attempts and one cannot be emitted; seven are batched.
#[tokio::test(start_paused = true)]
async fn metrics_of_pipelines_add_up_to_what_the_tables_have() -> Outcome {
    let seen = Seen::default();
    let _recording = metrics::set_default_local_recorder(&seen);
    let db = Db::new(virtual_memory());
    let (numbers, texts) =
        (Queue::<u32>::named("numbers").attempts(2), Queue::<String>::named("texts"));
    db.resource("gpu").capacity(1).await?;
    let pipeline = Pipeline::new("sum", &numbers)
        .rate("api", Rate::per_second(100).burst(100))
        .process(|number, _ctx| async move {
            if number == 1 { Err(Error::retry_after(Duration::ZERO, "no")) } else { Ok(number) }
        })
        .emit(&texts, |number| (*number == 2).then(|| "\0".to_owned()))
        .batch(
            Batch::len(3).resource("gpu", 1).wait(Duration::from_secs(5)),
            |batch, _ctx| async move { Ok(batch.settle_all(|number| number)) },
        );
    numbers.push_all(&db, &(1..10).collect::<Vec<_>>()).await?;
    db.submit_raw("numbers", serde_json::json!("many")).await?;
    let worker = Worker::new(&db).pipeline(pipeline).report_backlog(Duration::from_secs(1));
    let working = Working::start(worker);
    timeout(Duration::from_mins(5), async {
        loop {
            let stats = db.queue("numbers").stats().await?;
            if stats.depth + stats.in_flight == 0 {
                return Outcome::Ok(());
            }
            sleep(Duration::from_millis(100)).await;
        }
    })
    .await??;
    shows(&seen, "pgflow_queue_depth", "numbers", 0.0).await?;
    db.queue("numbers").pause().await?;
    numbers.push_all(&db, &[1, 2, 3, 4]).await?;
    shows(&seen, "pgflow_queue_depth", "numbers", 4.0).await?;
    assert!(working.stop().await?.is_clean());
    let of =
        |labels: &[(&'static str, &'static str)]| [&[("pipeline", "sum")][..], labels].concat();
    let stats = db.queue("numbers").stats().await?;
    let counted = [
        // Those that are batched: attempts one by one are none.
        ("pgflow_batch_size", of(&[]), 7.0),
        ("pgflow_batch_trigger_total", of(&[("trigger", "size")]), 2.0),
        ("pgflow_batch_trigger_total", of(&[("trigger", "timeout")]), 1.0),
        ("pgflow_batch_trigger_total", of(&[]), 3.0),
        ("pgflow_dead_total", of(&[]), 3.0),
        ("pgflow_queue_depth", vec![("queue", "numbers")], 4.0),
    ];
    for (name, labels, count) in counted {
        assert_eq!(sum(&seen, name, &labels), Some(count), "{name} {labels:?}");
    }
    assert_eq!((stats.dead, stats.depth), (3, 4), "as the tables have it");
    assert_eq!((stats.formed.batches, stats.formed.messages), (3, 7), "and as metrics have it");
    let waited = sum(&seen, "pgflow_batch_wait_seconds", &of(&[]));
    let held = sum(&seen, "pgflow_resource_wait_seconds", &of(&[("resource", "gpu")]));
    let taken = sum(&seen, "pgflow_rate_wait_seconds", &of(&[("rate", "api")]));
    assert!(held.is_some_and(|seconds| seconds >= 5.0), "the last batch: {held:?}");
    assert!(waited >= held && taken.is_some(), "{waited:?} {held:?} {taken:?}");
    let (documented, described) = (documented::metrics(documented::PIPELINES), seen.described());
    let all = seen.all();
    let names: BTreeSet<_> = all.keys().map(|series| &series.name).collect();
    for (name, metric) in documented {
        assert!(names.contains(&name), "{name} was not seen");
        assert_eq!(described.get(&name).map(|(kind, _)| *kind), Some(&*metric.kind), "{name}");
        for series in all.keys().filter(|series| series.name == name) {
            let labels: BTreeSet<_> = series.labels.keys().collect();
            assert_eq!(labels, metric.labels.iter().collect(), "labels of {name}");
        }
    }
    Ok(())
}

/// A lease of a message is as long as it says: it is extended four times in that while, and lapses for nobody.
#[tokio::test(start_paused = true)]
async fn a_short_lease_is_extended_in_time() -> Outcome {
    let seen = Seen::default();
    let _recording = metrics::set_default_local_recorder(&seen);
    let db = Db::new(virtual_memory());
    let numbers = Queue::<u32>::named("numbers");
    let lease = Duration::from_secs(1);
    let slow = Pipeline::new("slow", &numbers).lease(lease).process(|number, _ctx| async move {
        sleep(Duration::from_secs(10)).await;
        Ok(number)
    });
    let working = Working::start(Worker::new(&db).pipeline(slow));
    let message = numbers.push(&db, &1).await?;
    timeout(Duration::from_mins(5), db.job(&message).wait()).await??;
    working.stop().await?;
    let beats = sum(&seen, "pgflow_heartbeats_total", &[("answer", "extended")]);
    assert!(beats >= Some(36.0), "{beats:?} in ten times as long as it lasts");
    let row = db.job(&message).record().await?.summary.row;
    assert_eq!((row.attempts, row.lapses), (1, 0));
    Ok(())
}
