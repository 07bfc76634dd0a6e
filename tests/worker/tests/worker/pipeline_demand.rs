//! What pipelines take at once, load ahead, wait for and keep.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt, stream};
use pgflow::Db;
use pgflow::pipeline::{Dead, Pipeline, Queue};
use pgflow::prelude::*;
use pgflow_machine::job::TraceKind;
use pgflow_runtime::memory::Memory;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use sqlx::Connection as _;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::pipelines::{PATIENCE, Seen, drained};

macro_rules! on_stores {
    ($($test:ident),+ $(,)?) => {
        on!(memory: $($test),+);
        on!(sqlite: $($test),+);
        on!(mysql: $($test),+);
        on!(postgres: $($test),+);
    };
}

on_stores!(
    a_claim_loads_once,
    what_cannot_be_loaded_fails_its_messages,
    messages_are_fetched_ahead_and_given_back,
    a_sink_waits_for_room,
    dead_messages_are_kept_for_a_while,
    the_dead_come_back_at_a_rate,
    who_waits_for_a_resource_says_so,
);

async fn a_claim_loads_once(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let loads = Seen::new();
    let loaded = loads.clone();
    let pipeline = Pipeline::new("price", &numbers)
        .preload(move |mut numbers: Vec<u32>| {
            numbers.sort_unstable();
            loaded.add(numbers.clone());
            async move { Ok(numbers) }
        })
        .process(|number, loaded, _ctx| async move {
            if loaded.contains(&number) { Ok(number) } else { Err(Error::fatal("not loaded")) }
        });
    fresh.db.submit_raw("numbers", serde_json::json!("many")).await?;
    numbers.push_all(&fresh.db, &(0..6).collect::<Vec<_>>()).await?;
    let working = Working::start(Worker::new(&fresh.db).concurrency(8).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    working.stop().await?;
    assert_eq!(loads.all(), [(0..6).collect::<Vec<_>>()], "once, for all of them");
    assert_eq!(fresh.db.queue("numbers").stats().await?.dead, 1, "the unreadable one");
    Ok(())
}

async fn what_cannot_be_loaded_fails_its_messages(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(1);
    let pipeline = Pipeline::new("price", &numbers)
        .preload(|_| async { Err::<(), _>(Error::from("no prices today")) })
        .process(|number, _loaded, _ctx| async move { Ok(number) });
    numbers.push_all(&fresh.db, &[1, 2]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    working.stop().await?;
    let dead = fresh.db.dead("numbers").list(10).await?;
    let why: Vec<_> = dead.iter().filter_map(|job| job.error.as_deref()).collect();
    assert_eq!(why, ["preload: no prices today"; 2]);
    Ok(())
}

/// One runs, three wait with leases of their own, four are left to others; then the worker is told to stop.
async fn messages_are_fetched_ahead_and_given_back(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(1);
    let (seen, gate) = (Seen::new(), Arc::new(Semaphore::new(0)));
    let (saw, open) = (seen.clone(), gate.clone());
    let lease = Duration::from_secs(3);
    let pipeline = Pipeline::new("sum", &numbers).concurrency(1).prefetch(3).lease(lease).process(
        move |number, _ctx| {
            saw.add(number);
            let open = open.clone();
            async move {
                open.acquire().await.map_err(Error::from)?.forget();
                Ok(number)
            }
        },
    );
    let ids = numbers.push_all(&fresh.db, &(0..8).collect::<Vec<_>>()).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    let becomes = async |depth, in_flight| {
        let reached = async {
            loop {
                let stats = fresh.db.queue("numbers").stats().await?;
                if (stats.depth, stats.in_flight) == (depth, in_flight) {
                    return Outcome::Ok(());
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, reached).await?
    };
    becomes(4, 4).await?;
    // Longer than a lease lasts that nobody keeps.
    sleep(lease + Duration::from_secs(2)).await;
    becomes(4, 4).await?;
    assert_eq!(seen.all(), [0]);
    for id in &ids[..4] {
        let row = fresh.db.job(id).record().await?.summary.row;
        assert_eq!((row.attempts, row.lapses), (1, 0), "its lease was kept");
    }
    gate.add_permits(1);
    timeout(PATIENCE, async {
        while seen.all() != [0, 1] {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await?;
    becomes(3, 4).await?; // The place of the next was taken.
    gate.add_permits(1);
    assert!(working.stop().await?.is_clean());
    let stats = fresh.db.queue("numbers").stats().await?;
    assert_eq!((stats.depth, stats.in_flight, stats.dead), (6, 0, 0), "two are done");
    for id in &ids[2..] {
        let row = fresh.db.job(id).record().await?.summary.row;
        assert_eq!(row.attempts - row.forgiven, 0, "no attempt was used up");
    }
    Ok(())
}

async fn a_sink_waits_for_room(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let mut sink = numbers.sink(&fresh.db).high_water(20);
    let filling = tokio::spawn(async move {
        sink.send_all(&mut stream::iter(0..60).map(Ok)).await?;
        sink.close().await
    });
    let depth = async || fresh.db.queue("numbers").stats().await.map(|stats| stats.depth);
    let filled: Outcome = timeout(PATIENCE, async {
        while depth().await? < 15 {
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    })
    .await?;
    filled?;
    // What it pushes without room comes now.
    sleep(Duration::from_millis(500)).await;
    assert!(!filling.is_finished(), "nobody works, so there is no room for all");
    let depth = depth().await?;
    assert!((15..=20).contains(&depth), "{depth}");
    let seen = Seen::new();
    let saw = seen.clone();
    let pipeline = Pipeline::new("sum", &numbers).process(move |number, _ctx| {
        saw.add(number);
        async move { Ok(number) }
    });
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    timeout(PATIENCE, filling).await???;
    drained(&fresh.db, "numbers").await?;
    working.stop().await?;
    let mut all = seen.all();
    all.sort_unstable();
    assert_eq!(all, (0..60).collect::<Vec<_>>(), "each of them once");
    Ok(())
}

async fn dead_messages_are_kept_for_a_while(fresh: Fresh) -> Outcome {
    let month = Duration::from_hours(30 * 24);
    let numbers = Queue::<u32>::named("numbers").dead_letter(Dead::after(1).keep(month));
    let pipeline = Pipeline::new("sum", &numbers).process(|number, ctx| async move {
        if number < 3 && ctx.attempt() == 1 { Err("odd".into()) } else { Ok(number) }
    });
    numbers.push_all(&fresh.db, &[1, 2, 3]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    let letters = fresh.db.dead("numbers");
    let dead = letters.list(10).await?;
    assert_eq!(dead.len(), 2, "after one attempt");
    assert_eq!(letters.prune(month).await?, 0, "they are young");
    let began = Instant::now();
    let id = dead[0].id.clone();
    letters.redrive(std::slice::from_ref(&id), Duration::ZERO).await?;
    drained(&fresh.db, "numbers").await?;
    assert_eq!(letters.list(10).await?.len(), 1, "one of them is done now");
    sleep(Duration::from_millis(50)).await;
    assert_eq!(letters.prune(began.elapsed() + month).await?, 0);
    assert_eq!(letters.prune(Duration::ZERO).await?, 1);
    assert!(letters.list(10).await?.is_empty());
    assert!(fresh.db.job(&id).output::<u32>().await.is_ok(), "what is done is not dead");
    working.stop().await?;
    Ok(())
}

/// What `keep` says is kept by a worker, in its first minute and then every hour.
#[tokio::test(start_paused = true)]
async fn a_worker_forgets_the_dead() -> Outcome {
    let memory = Memory::in_real_time();
    let db = Db::new(memory.clone());
    let numbers =
        Queue::<u32>::named("numbers").dead_letter(Dead::after(1).keep(Duration::from_hours(2)));
    let fails = |_: u32, _| async { Err::<u32, _>(Error::fatal("odd")) };
    let worker = Worker::new(&db).pipeline(Pipeline::new("sum", &numbers).process(fails));
    let working = Working::start(worker);
    numbers.push(&db, &1).await?;
    drained(&db, "numbers").await?;
    let dead = async || Outcome::Ok(db.queue("numbers").stats().await?.dead);
    assert_eq!(dead().await?, 1);
    sleep(Duration::from_mins(70)).await;
    assert_eq!(dead().await?, 1, "it is young, whoever has looked");
    memory.advance(Duration::from_hours(2));
    sleep(Duration::from_mins(90)).await;
    assert_eq!(dead().await?, 0, "it is older than it is kept, and somebody has looked since");
    working.stop().await?;
    Ok(())
}

/// Each so much later than the one before, by the database's clock.
async fn the_dead_come_back_at_a_rate(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(1);
    let pipeline = Pipeline::new("sum", &numbers).process(|number, ctx| async move {
        if ctx.attempt() == 1 { Err("not at first".into()) } else { Ok(number) }
    });
    let ids = numbers.push_all(&fresh.db, &[1, 2, 3, 4]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    let spacing = Duration::from_millis(400);
    fresh.db.dead("numbers").redrive(&ids, spacing).await?;
    drained(&fresh.db, "numbers").await?;
    working.stop().await?;
    let mut claimed = Vec::new();
    for id in &ids {
        let trace = fresh.db.job(id).trace().await?;
        let at = |kind| trace.iter().rfind(|event| event.kind == kind).map(|event| event.at);
        let back = at(TraceKind::Redriven).ok_or("it was redriven")?;
        claimed.push((back, at(TraceKind::Claimed).ok_or("it was claimed")?));
    }
    for (place, (back, again)) in (0..).zip(&claimed) {
        let waited = back.saturating_until(*again);
        assert!(waited >= spacing * place, "the one at {place} waited {waited:?}");
    }
    assert_eq!(fresh.db.queue("numbers").stats().await?.dead, 0);
    Ok(())
}

/// A database that takes nothing for a moment: what the sink was given is there, once, when it is flushed again.
#[tokio::test(flavor = "multi_thread")]
async fn a_sink_loses_nothing() -> Outcome {
    let fresh = Fresh::sqlite().await?;
    let numbers = Queue::<u32>::named("numbers");
    let mut sink = numbers.sink(&fresh.db).high_water(100);
    sink.feed(1).await?;
    sink.feed(2).await?;
    let mut other = sqlx::SqliteConnection::connect(&fresh.url).await?;
    let full = "create trigger full before insert on pgflow_jobs begin select raise(abort, 'the disk is full'); end";
    sqlx::raw_sql(full).execute(&mut other).await?;
    assert!(SinkExt::<u32>::flush(&mut sink).await.is_err(), "the database refuses it");
    sqlx::raw_sql("drop trigger full").execute(&mut other).await?;
    for _ in 0..2 {
        SinkExt::<u32>::flush(&mut sink).await?;
        assert_eq!(fresh.db.queue("numbers").stats().await?.depth, 2);
    }
    Ok(())
}

/// More than there is cannot be asked for; and what was taken away since is named.
async fn who_waits_for_a_resource_says_so(fresh: Fresh) -> Outcome {
    let gpu = fresh.db.resource("gpu");
    gpu.capacity(2).await?;
    let docs = Queue::<u32>::named("docs").resources(|units| [("gpu", *units)]);
    let refused = docs.push(&fresh.db, &3).await.expect_err("there are two of them");
    let cause = std::error::Error::source(&refused).map(ToString::to_string).unwrap_or_default();
    assert!(cause.starts_with("there are 2 units of resource `gpu`, and 3 are"), "{refused:?}");
    let message = docs.push(&fresh.db, &2).await?;
    let why = fresh.db.why_job(&message).await?;
    assert_eq!(why.reasons[0].code(), "no-worker", "nothing else keeps it: {why}");
    gpu.capacity(1).await?;
    let why = fresh.db.why_job(&message).await?;
    assert_eq!(why.reasons[0].code(), "resource", "{why}");
    assert!(why.reasons[0].needs_somebody() && why.to_string().contains("there are 1"), "{why}");
    Ok(())
}
