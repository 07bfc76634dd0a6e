//! Pipelines through workers, from a push to an end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgflow::pipeline::{Batch, OnFailure, Pipeline, Queue, Rate, Trigger};
use pgflow::prelude::*;
use pgflow::{Db, WorkerError};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use tokio::time::{Instant, sleep, timeout};

/// For whatever has to happen sooner or later.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// What functions have seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone> Seen<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn add(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}

/// Waits until a queue has nothing left to do.
pub(crate) async fn drained(db: &Db, queue: &str) -> Outcome {
    let idle = async {
        loop {
            let stats = db.queue(queue).stats().await?;
            if stats.depth + stats.in_flight == 0 {
                return Outcome::Ok(());
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, idle).await?
}

/// The same database, for another worker.
async fn another(fresh: &Fresh) -> Outcome<Db> {
    if fresh.url == "memory:" {
        return Ok(fresh.db.clone());
    }
    Ok(Db::connect(&fresh.url).await?)
}

async fn stages_follow_each_other_and_emit(fresh: Fresh) -> Outcome {
    let (docs, lengths) = (Queue::<String>::named("docs"), Queue::<usize>::named("lengths"));
    let pipeline = Pipeline::new("measure", &docs)
        .process(|doc, _ctx| async move { Ok(doc.trim().to_owned()) })
        .batch(Batch::len(4).wait(Duration::from_millis(50)), |batch, ctx| async move {
            assert!(!ctx.batch_id().is_empty() && (1..=4).contains(&batch.len()));
            Ok(batch.settle_all(|word| word.len()))
        })
        .emit(&lengths, |length| [*length, *length * 10]);
    let seen = Seen::new();
    let saw = seen.clone();
    let sum = Pipeline::new("sum", &lengths).process(move |length, _ctx| {
        saw.add(length);
        async move { Ok(length) }
    });
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline).pipeline(sum));
    let words: Vec<String> = (1..=9).map(|len| format!(" {} ", "x".repeat(len))).collect();
    docs.push_all(&fresh.db, &words).await?;
    drained(&fresh.db, "docs").await?;
    drained(&fresh.db, "lengths").await?;
    assert!(working.stop().await?.is_clean());
    let mut all = seen.all();
    all.sort_unstable();
    let mut expected: Vec<usize> = (1..=9).flat_map(|len| [len, len * 10]).collect();
    expected.sort_unstable();
    assert_eq!(all, expected, "each of them once");
    assert!(fresh.db.queue("docs").stats().await?.rate > 0, "some were done a moment ago");
    Ok(())
}

async fn two_workers_form_one_batch(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let seen = Seen::new();
    let mut workers = Vec::new();
    let mut dbs = Vec::new();
    for _ in 0..2 {
        let (db, saw) = (another(&fresh).await?, seen.clone());
        let rule = Batch::len(32).wait(Duration::from_secs(50));
        let pipeline = Pipeline::new("sum", &numbers).batch(rule, move |batch, _ctx| {
            saw.add((batch.len(), batch.trigger()));
            async move { Ok(batch.settle_all(|number| number)) }
        });
        workers.push(Working::start(Worker::new(&db).pipeline(pipeline)));
        dbs.push(db);
    }
    for (db, of) in dbs.iter().zip([0..16, 16..32]) {
        numbers.push_all(db, &of.collect::<Vec<_>>()).await?;
    }
    drained(&fresh.db, "numbers").await?;
    for worker in workers {
        worker.stop().await?;
    }
    assert_eq!(seen.all(), [(32, Some(Trigger::Size))]);
    Ok(())
}

async fn a_wait_goes_on_without_workers(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let seen = Seen::new();
    let pipeline = |saw: Seen<(usize, Option<Trigger>)>| {
        let rule = Batch::len(32).wait(Duration::from_secs(2));
        Pipeline::new("sum", &numbers).batch(rule, move |batch, _ctx| {
            saw.add((batch.len(), batch.trigger()));
            async move { Ok(batch.settle_all(|number| number)) }
        })
    };
    let first = Worker::new(&fresh.db).pipeline(pipeline(seen.clone()));
    // It is dropped, which is as sudden as a process that is killed.
    let killed = tokio::spawn(first.run(std::future::pending()));
    numbers.push_all(&fresh.db, &[1, 2, 3]).await?;
    let pushed = Instant::now();
    sleep(Duration::from_secs(1)).await;
    killed.abort();
    assert!(seen.all().is_empty());
    let second = Working::start(Worker::new(&fresh.db).pipeline(pipeline(seen.clone())));
    drained(&fresh.db, "numbers").await?;
    assert_eq!(seen.all(), [(3, Some(Trigger::Timeout))]);
    assert!(pushed.elapsed() >= Duration::from_millis(1900), "not before its time");
    second.stop().await?;
    Ok(())
}

async fn one_holder_at_a_time(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    fresh.db.resource("gpu").capacity(1).await?;
    let (now, most, fences) =
        (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)), Seen::new());
    let mut workers = Vec::new();
    for _ in 0..4 {
        let (now, most, fences) = (now.clone(), most.clone(), fences.clone());
        let pipeline =
            Pipeline::new("render", &numbers).resource("gpu", 1).process(move |number, ctx| {
                let (now, most, fences) = (now.clone(), most.clone(), fences.clone());
                async move {
                    fences.add(ctx.fence("gpu"));
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    sleep(Duration::from_millis(10)).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(number)
                }
            });
        let db = another(&fresh).await?;
        workers.push(Working::start(Worker::new(&db).pipeline(pipeline)));
    }
    numbers.push_all(&fresh.db, &(0..20).collect::<Vec<_>>()).await?;
    drained(&fresh.db, "numbers").await?;
    for worker in workers {
        worker.stop().await?;
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
    let expected: Vec<_> = (1..=20).map(Some).collect();
    assert_eq!(fences.all(), expected, "each grant has the next number");
    Ok(())
}

async fn keys_are_served_in_order(fresh: Fresh) -> Outcome {
    let orders = Queue::<(String, u32)>::named("orders")
        .serial_by(|order: &(String, u32)| order.0.clone(), OnFailure::Block)
        .fair_by(|order| order.0.clone());
    let seen = Seen::new();
    let mut workers = Vec::new();
    for _ in 0..3 {
        let saw = seen.clone();
        let pipeline = Pipeline::new("ship", &orders).process(move |order, ctx| {
            let saw = saw.clone();
            async move {
                // One that fails keeps its key waiting.
                if order == ("k1".to_owned(), 3) && ctx.attempt() == 1 {
                    return Err(Error::retry_after(Duration::from_millis(300), "not yet"));
                }
                saw.add(order.clone());
                Ok(order.1)
            }
        });
        let db = another(&fresh).await?;
        workers.push(Working::start(Worker::new(&db).pipeline(pipeline)));
    }
    let all: Vec<_> = (0..10).flat_map(|n| (0..5).map(move |key| (format!("k{key}"), n))).collect();
    orders.push_all(&fresh.db, &all).await?;
    drained(&fresh.db, "orders").await?;
    for worker in workers {
        worker.stop().await?;
    }
    let mut by_key: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (key, number) in seen.all() {
        by_key.entry(key).or_default().push(number);
    }
    assert_eq!(by_key.len(), 5);
    for (key, numbers) in by_key {
        assert_eq!(numbers, (0..10).collect::<Vec<_>>(), "{key}");
    }
    Ok(())
}

async fn rates_are_kept_and_changed(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let seen = Seen::new();
    let mut workers = Vec::new();
    for _ in 0..2 {
        let saw = seen.clone();
        let pipeline = Pipeline::new("call", &numbers)
            .rate("openai", Rate::per_hour(1).burst(4))
            .process(move |number, _ctx| {
                saw.add(number);
                async move { Ok(number) }
            });
        let db = another(&fresh).await?;
        workers.push(Working::start(Worker::new(&db).pipeline(pipeline)));
    }
    numbers.push_all(&fresh.db, &(0..12).collect::<Vec<_>>()).await?;
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(seen.all().len(), 4, "the burst, and no more in an hour");
    fresh.db.rate("openai").set(Rate::per_second(1000).burst(100)).await?;
    drained(&fresh.db, "numbers").await?;
    for worker in workers {
        worker.stop().await?;
    }
    assert_eq!(seen.all().len(), 12);
    Ok(())
}

async fn what_cannot_be_read_or_done_is_dead(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers").attempts(2);
    let pipeline = Pipeline::new("sum", &numbers)
        .process(|number, _ctx| async move {
            match number {
                1 => Err(Error::fatal("never")),
                2 => Err(Error::retry_after(Duration::ZERO, "again")),
                3 => Err(Error::skip("not worth it")),
                4 => panic!("it was a four"),
                number => Ok(number),
            }
        })
        .batch(Batch::len(1), |batch, _ctx| async move {
            Ok(batch.settle(
                |_, number| if number == 5 { Err(Error::fatal("odd")) } else { Ok(number) },
            ))
        });
    fresh.db.submit_raw("numbers", serde_json::json!("many")).await?;
    let ids = numbers.push_all(&fresh.db, &[1, 2, 3, 5, 6]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "numbers").await?;
    let dead = fresh.db.queue("numbers").dead(100).await?;
    let mut why: Vec<_> = dead.iter().filter_map(|job| job.error.clone()).collect();
    why.sort();
    assert_eq!(why.len(), 4, "{why:?}");
    assert!(why[1].starts_with("decode: ") && why[0] == "again" && why[2] == "never", "{why:?}");
    assert_eq!(why[3], "odd");
    let unreadable = dead.iter().find(|job| job.error.as_deref() == Some(&*why[1]));
    let id = &unreadable.expect("it is dead").id;
    assert_eq!(fresh.db.job(id).record().await?.payload, "many", "what it was about is kept");
    assert_eq!(fresh.db.job(&ids[4]).output::<u32>().await?, 6);
    assert_eq!(fresh.db.queue("numbers").drop_dead(std::slice::from_ref(id)).await?, 1);
    assert_eq!(fresh.db.queue("numbers").stats().await?.dead, 3);
    assert!(working.stop().await?.is_clean());
    Ok(())
}

async fn a_shutdown_flushes_or_leaves(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    for (flushes, left) in [(false, 3), (true, 0)] {
        let (started, seen) = (Seen::new(), Seen::new());
        let (start, saw) = (started.clone(), seen.clone());
        let hurry = Queue::<u32>::named("hurry");
        let first = Pipeline::new("hurry", &hurry).process(move |number, _ctx| {
            start.add(number);
            async move { Ok(number) }
        });
        let mut pipeline = Pipeline::new("sum", &numbers);
        if flushes {
            pipeline = pipeline.flush();
        }
        let rule = Batch::len(100).wait(Duration::from_hours(1));
        let pipeline = pipeline.batch(rule, move |batch, _ctx| {
            saw.add((batch.len(), batch.trigger()));
            async move { Ok(batch.settle_all(|number| number)) }
        });
        if !flushes {
            numbers.push_all(&fresh.db, &[1, 2, 3]).await?;
        }
        let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline).pipeline(first));
        hurry.push(&fresh.db, &1).await?;
        drained(&fresh.db, "hurry").await?;
        assert!(working.stop().await?.is_clean());
        let stats = fresh.db.queue("numbers").stats().await?;
        assert_eq!((stats.depth, stats.in_flight), (left, 0), "flushes: {flushes}");
        let expected = if flushes { vec![(3, Some(Trigger::Drain))] } else { vec![] };
        assert_eq!(seen.all(), expected);
    }
    Ok(())
}

async fn what_makes_no_sense_is_refused_at_the_start(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let plain = || Pipeline::new("sum", &numbers);
    let start = |pipeline: pgflow::pipeline::PipelineSpec| {
        let worker = Worker::new(&fresh.db).pipeline(pipeline);
        async { timeout(PATIENCE, worker.run(std::future::pending())).await.expect("an answer") }
    };
    let works = |number: u32, _ctx| async move { Ok(number) };
    let undeclared = start(plain().resource("tpu", 1).process(works).into()).await;
    let error = undeclared.expect_err("nobody said what a tpu is").to_string();
    assert!(error.contains("there is no resource `tpu`"), "{error}");
    for len in [0, 20_000] {
        let never = plain().batch(Batch::len(len), |batch, _ctx| async move {
            Ok(batch.settle_all(|number| number))
        });
        let error = start(never.into()).await.expect_err("a batch that never is").to_string();
        assert!(error.contains(&format!("len is {len}")), "{error}");
    }
    let keyed = plain().batch(Batch::len(2).key(ToString::to_string), |batch, _ctx| async move {
        Ok(batch.settle_all(|number| number))
    });
    let error = start(keyed.into()).await.expect_err("claims know nothing of it").to_string();
    assert!(error.contains("`sum`") && error.contains("Queue::batch_by"), "{error}");
    let never = start(plain().rate("r", Rate::per_second(1).burst(0)).process(works).into()).await;
    assert!(never.expect_err("no burst").to_string().contains("burst"));
    let twice = Worker::new(&fresh.db).pipeline(plain().process(works));
    let twice = twice.pipeline(plain().process(works)).run(std::future::pending());
    let twice = timeout(PATIENCE, twice).await?;
    assert!(matches!(twice, Err(WorkerError::NeedTwice { need: "numbers" })));
    for lease in [Duration::ZERO, Duration::from_millis(900), Duration::MAX] {
        let batch = Batch::len(2).lease(lease);
        let batched = plain()
            .process(works)
            .batch(batch, |batch, _ctx| async move { Ok(batch.settle_all(|number| number)) });
        for pipeline in [plain().lease(lease).process(works).into(), batched.into()] {
            let refused = start(pipeline).await.expect_err("a lease that nobody can keep");
            let is_it = matches!(refused, WorkerError::Lease { pipeline: "sum", .. });
            assert!(is_it && refused.to_string().contains("`sum`"), "{refused}");
        }
    }
    assert!(fresh.db.resource("gpu").capacity(0).await.is_err());
    let mixed = Queue::<u32>::named("numbers>batch");
    let refused = start(Pipeline::new("mixed", &mixed).process(works).into()).await;
    let queue =
        |error: &_| matches!(error, WorkerError::QueueOfBatches { queue: "numbers>batch", .. });
    assert!(refused.as_ref().is_err_and(queue), "{refused:?}");
    let error = mixed.push(&fresh.db, &1).await.expect_err("batches would be mixed").to_string();
    assert!(error.contains("`>batch`"), "{error}");
    let (slow, fast) = (Rate::per_second(1), Rate::per_second(2));
    let other = Pipeline::new("other", &Queue::<u32>::named("others"));
    let two = Worker::new(&fresh.db).pipeline(plain().rate("api", slow).process(works));
    let two = two.pipeline(other.rate("api", fast).process(works)).run(std::future::pending());
    let of_two = timeout(PATIENCE, two).await?;
    let of_one = start(plain().rate("api", slow).rate("api", fast).process(works).into()).await;
    for refused in [of_two, of_one] {
        let rate =
            |error: &_| matches!(error, WorkerError::RateTwice { rate, .. } if rate == "api");
        assert!(refused.as_ref().is_err_and(rate), "{refused:?}");
    }
    assert_eq!(fresh.db.rate("api").get().await?, None, "nothing was declared");
    Ok(())
}

/// Four workers, and no more attempts at once than the pipeline says. A database that is one process's cannot promise that.
async fn a_limit_counts_over_all_workers(fresh: Fresh) -> Outcome {
    if fresh.url == "memory:" {
        for url in [&*fresh.url, "sqlite::memory:"] {
            alone_in_its_database(&Db::connect(url).await?).await?;
        }
        return Ok(());
    }
    let numbers = Queue::<u32>::named("numbers");
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut workers = Vec::new();
    for _ in 0..4 {
        let (now, most) = (now.clone(), most.clone());
        let pipeline =
            Pipeline::new("render", &numbers).global_concurrency(2).process(move |number, _ctx| {
                let (now, most) = (now.clone(), most.clone());
                async move {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    sleep(Duration::from_millis(30)).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(number)
                }
            });
        let db = another(&fresh).await?;
        workers.push(Working::start(Worker::new(&db).pipeline(pipeline)));
    }
    numbers.push_all(&fresh.db, &(0..24).collect::<Vec<_>>()).await?;
    drained(&fresh.db, "numbers").await?;
    for worker in workers {
        worker.stop().await?;
    }
    assert_eq!(most.load(Ordering::SeqCst), 2, "over all of them, and as many as there may be");
    Ok(())
}

async fn alone_in_its_database(db: &Db) -> Outcome {
    let limited = Pipeline::new("render", &Queue::<u32>::named("numbers")).global_concurrency(2);
    let limited = limited.process(|number, _ctx| async move { Ok(number) });
    let worker = Worker::new(db).pipeline(limited).run(std::future::pending());
    let refused = timeout(PATIENCE, worker).await?.expect_err("it is one process's");
    let is_it = matches!(refused, WorkerError::OneProcess { pipeline: "render", .. });
    assert!(is_it && refused.to_string().contains("`global_concurrency`"), "{refused}");
    Ok(())
}

/// Shorter than its function takes, as long as leases may be: it is kept, and the message is done once.
async fn a_short_lease_is_kept(fresh: Fresh) -> Outcome {
    let numbers = Queue::<u32>::named("numbers");
    let seen = Seen::new();
    let pipeline = |saw: Seen<u32>| {
        let lease = Duration::from_secs(1);
        Pipeline::new("slow", &numbers).lease(lease).process(move |number, _ctx| {
            saw.add(number);
            async move {
                sleep(Duration::from_secs(3)).await;
                Ok(number)
            }
        })
    };
    let (first, second) = (another(&fresh).await?, another(&fresh).await?);
    let workers =
        [first, second].map(|db| Working::start(Worker::new(&db).pipeline(pipeline(seen.clone()))));
    let message = numbers.push(&fresh.db, &7).await?;
    drained(&fresh.db, "numbers").await?;
    for worker in workers {
        worker.stop().await?;
    }
    let row = fresh.db.job(&message).record().await?.summary.row;
    assert_eq!((seen.all(), row.attempts, row.lapses), (vec![7], 1, 0));
    Ok(())
}

/// What is named twice is held twice, wherever that was said: of the pipeline, and of its batch.
async fn units_of_a_batch_are_added_up(fresh: Fresh) -> Outcome {
    let gpu = fresh.db.resource("gpu");
    gpu.capacity(2).await?;
    let numbers = Queue::<u32>::named("numbers");
    let pipeline = || {
        Pipeline::new("sum", &numbers)
            .resource("gpu", 1)
            .batch(Batch::len(2).resource("gpu", 2), |batch, _ctx| async move {
                Ok(batch.settle_all(|number| number))
            })
    };
    let start = Worker::new(&fresh.db).pipeline(pipeline()).run(std::future::pending());
    let refused = timeout(PATIENCE, start).await?.expect_err("there are two").to_string();
    assert!(refused.contains("`gpu`") && refused.contains('3'), "{refused}");
    gpu.capacity(3).await?;
    numbers.push_all(&fresh.db, &[1, 2]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline()));
    drained(&fresh.db, "numbers").await?;
    working.stop().await?;
    let stats = fresh.db.queue("numbers").stats().await?;
    assert_eq!((stats.formed.batches, stats.formed.fill()), (1, Some(2.0)));
    Ok(())
}

/// The first attempts keep the key waiting; from the third on the others go on.
async fn a_key_waits_for_so_many_attempts(fresh: Fresh) -> Outcome {
    let orders = Queue::<u32>::named("orders")
        .attempts(3)
        .serial_by(|_| "one".to_owned(), OnFailure::BlockUntil(2));
    let seen = Seen::new();
    let saw = seen.clone();
    let pipeline = Pipeline::new("ship", &orders).process(move |order, ctx| {
        let saw = saw.clone();
        async move {
            saw.add((order, ctx.attempt()));
            if order == 1 && ctx.attempt() < 3 {
                return Err(Error::retry_after(Duration::from_millis(700), "not yet"));
            }
            Ok(order)
        }
    });
    orders.push_all(&fresh.db, &[1, 2]).await?;
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "orders").await?;
    assert!(working.stop().await?.is_clean());
    assert_eq!(seen.all(), [(1, 1), (1, 2), (2, 1), (1, 3)], "blocked twice, and then overtaken");
    Ok(())
}

/// What is too large is refused where it is said: a push, what is emitted, what is handed over. Nothing else is lost.
async fn what_is_too_large_is_refused_everywhere(fresh: Fresh) -> Outcome {
    const LARGE: usize = 5 << 20;
    let words = Queue::<String>::named("words").attempts(1);
    let error = words.push(&fresh.db, "x".repeat(LARGE)).await.expect_err("too large to push");
    assert!(error.to_string().contains("bytes"), "{error}");
    let both = words.push_all(&fresh.db, &["x".repeat(LARGE), "small".to_owned()]).await;
    assert!(both.is_err());
    assert_eq!(fresh.db.queue("words").stats().await?.depth, 1, "the other one was pushed");
    words.push_all(&fresh.db, &["emit".to_owned(), "hand over".to_owned()]).await?;
    let copies = Queue::<String>::named("copies");
    let pipeline = Pipeline::new("copy", &words)
        .process(|word, _ctx| async move {
            Ok(if word == "hand over" { "x".repeat(LARGE) } else { word })
        })
        .batch(Batch::len(1), |batch, _ctx| async move { Ok(batch.settle_all(|word| word)) })
        .emit(&copies, |word| [if word == "emit" { "x".repeat(LARGE) } else { word.clone() }]);
    let working = Working::start(Worker::new(&fresh.db).pipeline(pipeline));
    drained(&fresh.db, "words").await?;
    let dead = fresh.db.queue("words").dead(100).await?;
    assert_eq!(dead.len(), 2, "{dead:?}");
    for message in &dead {
        let why = message.error.as_deref().unwrap_or_default();
        assert!(why.contains("what comes next cannot be"), "{why}");
    }
    assert_eq!(fresh.db.queue("copies").stats().await?.depth, 1, "the small one went through");
    assert!(working.stop().await?.is_clean());
    Ok(())
}

pgflow_worker_tests::everywhere!(
    stages_follow_each_other_and_emit,
    two_workers_form_one_batch,
    a_wait_goes_on_without_workers,
    one_holder_at_a_time,
    keys_are_served_in_order,
    rates_are_kept_and_changed,
    what_cannot_be_read_or_done_is_dead,
    a_shutdown_flushes_or_leaves,
    a_short_lease_is_kept,
    units_of_a_batch_are_added_up,
    a_limit_counts_over_all_workers,
    a_key_waits_for_so_many_attempts,
    what_is_too_large_is_refused_everywhere,
    what_makes_no_sense_is_refused_at_the_start,
);
