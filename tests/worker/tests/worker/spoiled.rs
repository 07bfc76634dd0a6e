//! Needs and stages that spoil the transaction which records how their attempt ended, and what looks like that and is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::pipeline::{Batch, Pipeline, Queue};
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use sqlx::Connection as _;
use tokio::time::timeout;

use crate::pipelines::{PATIENCE, drained};
use crate::transactions::{FULL, NOBODY};

on!(postgres: a_need_that_spoils_its_transaction_has_failed, a_need_that_meets_a_full_disk_runs_again, a_stage_that_spoils_its_transaction_has_failed, a_stage_that_meets_a_full_disk_runs_again, a_note_that_meets_a_full_disk_is_written_later);

/// What cannot be recorded however often it is done, and why.
const SPOILED: [(&str, &str); 3] = [
    ("set local role pgflow_test_nobody", "permission denied"),
    ("set transaction read only", "read-only transaction"),
    ("this is no SQL", "aborted"),
];

/// What a disk that is full says, to nobody but this attempt: when it commits, and at once.
const NO_ROOM: [&str; 2] =
    ["insert into full_disk values (1)", "insert into full_at_once values (1)"];

/// Also at once.
const FULL_AT_ONCE: &str = "create table full_at_once (n int);
  create trigger no_room before insert on full_at_once for each row execute function no_room()";

#[derive(Clone, Default)]
struct Calls(Arc<AtomicU32>);

impl Calls {
    fn is_first(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) == 0
    }
}

#[job]
mod spoiling {
    use super::*;

    #[need(max_attempts = 1)]
    pub(crate) async fn spoil(job: usize, tx: &mut Tx) -> Result<Next> {
        spoiled(tx, job).await?;
        Ok(Next::done(job))
    }

    #[need(max_attempts = 1)]
    pub(crate) async fn unlucky(
        job: usize,
        tx: &mut Tx,
        State(calls): State<Calls>,
    ) -> Result<Next> {
        full(tx, job, &calls).await?;
        Ok(Next::done(job))
    }
}

async fn spoiled(tx: &mut Tx, way: usize) -> Result<()> {
    let connection = tx.postgres().ok_or("not on Postgres")?;
    let done = sqlx::query(SPOILED[way].0).execute(connection).await;
    // One of them fails, and is not told: that shows when the end is recorded.
    assert_eq!(done.is_err(), way == 2);
    Ok(())
}

async fn full(tx: &mut Tx, way: usize, calls: &Calls) -> Result<()> {
    if calls.is_first() {
        let connection = tx.postgres().ok_or("not on Postgres")?;
        sqlx::query(NO_ROOM[way]).execute(connection).await?;
    }
    Ok(())
}

async fn prepare(fresh: &Fresh) -> Outcome {
    let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
    for statements in [NOBODY, FULL, FULL_AT_ONCE] {
        sqlx::raw_sql(statements).execute(&mut connection).await?;
    }
    Ok(())
}

fn needs(fresh: &Fresh, calls: &Calls) -> Working {
    Working::start(Worker::new(&fresh.db).job(spoiling::Job).state(calls.clone()))
}

/// Other connections can do what it cannot: it is not the database that is in trouble.
async fn a_need_that_spoils_its_transaction_has_failed(fresh: Fresh) -> Outcome {
    prepare(&fresh).await?;
    let worker = needs(&fresh, &Calls::default());
    for (way, (_, why)) in SPOILED.iter().enumerate() {
        let job = fresh.db.submit::<spoiling::spoil>(&way).await?;
        let output = timeout(Duration::from_mins(1), job.output::<usize>()).await?;
        let error = output.expect_err("it cannot be recorded").to_string();
        assert!(error.contains(why), "{error}");
    }
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.released), (3, 0), "one attempt each: {report}");
    Ok(())
}

/// It has one attempt, which is not used up.
async fn a_need_that_meets_a_full_disk_runs_again(fresh: Fresh) -> Outcome {
    prepare(&fresh).await?;
    let calls = Calls::default();
    let worker = needs(&fresh, &calls);
    for way in 0..NO_ROOM.len() {
        calls.0.store(0, Ordering::SeqCst);
        let job = fresh.db.submit::<spoiling::unlucky>(&way).await?;
        let output = timeout(Duration::from_mins(1), job.output::<usize>()).await?;
        assert_eq!(output?, way);
        assert_eq!(calls.0.load(Ordering::SeqCst), 2);
    }
    worker.stop().await?;
    Ok(())
}

async fn a_stage_that_spoils_its_transaction_has_failed(fresh: Fresh) -> Outcome {
    prepare(&fresh).await?;
    let ones = Queue::<usize>::named("ones").attempts(1);
    let many = Queue::<usize>::named("many").attempts(1);
    let by_one = Pipeline::new("by_one", &ones).process_in(|way, _ctx, tx| {
        Box::pin(async move {
            spoiled(tx, way).await?;
            Ok(way)
        })
    });
    let by_many = Pipeline::new("by_many", &many).batch_in(Batch::len(1), |batch, _ctx, tx| {
        Box::pin(async move {
            spoiled(tx, batch.items()[0]).await?;
            Ok(batch.settle_all(|way| way))
        })
    });
    let worker = Working::start(Worker::new(&fresh.db).pipeline(by_one).pipeline(by_many));
    for (queue, name) in [(ones, "ones"), (many, "many")] {
        queue.push_all(&fresh.db, &[0, 1, 2]).await?;
        drained(&fresh.db, name).await?;
        let dead = fresh.db.dead(name).list(10).await?;
        let errors: Vec<_> = dead.iter().filter_map(|dead| dead.error.as_deref()).collect();
        for (_, why) in SPOILED {
            assert!(errors.iter().any(|error| error.contains(why)), "{name}: {errors:?}");
        }
        assert_eq!(dead.len(), SPOILED.len());
    }
    assert_eq!(worker.stop().await?.released, 0);
    Ok(())
}

async fn a_stage_that_meets_a_full_disk_runs_again(fresh: Fresh) -> Outcome {
    prepare(&fresh).await?;
    let queue = Queue::<usize>::named("ways").attempts(1);
    let calls = [Calls::default(), Calls::default()];
    let counted = calls.clone();
    let stage = Pipeline::new("unlucky", &queue).process_in(move |way, _ctx, tx| {
        let calls = counted[way].clone();
        Box::pin(async move {
            full(tx, way, &calls).await?;
            Ok(way)
        })
    });
    let worker = Working::start(Worker::new(&fresh.db).pipeline(stage));
    queue.push_all(&fresh.db, &[0, 1]).await?;
    timeout(PATIENCE, drained(&fresh.db, "ways")).await??;
    worker.stop().await?;
    assert_eq!(calls.map(|calls| calls.0.load(Ordering::SeqCst)), [2, 2]);
    assert_eq!(fresh.db.queue("ways").stats().await?.dead, 0, "no attempt was used up");
    Ok(())
}

/// A dead letter waits for its note while there is no room for it.
async fn a_note_that_meets_a_full_disk_is_written_later(fresh: Fresh) -> Outcome {
    prepare(&fresh).await?;
    let queue = Queue::<usize>::named("numbers").attempts(1);
    let calls = Calls::default();
    let counted = calls.clone();
    let stage = Pipeline::new("dying", &queue)
        .process(|_, _ctx| async move { Err::<usize, _>(Error::fatal("never")) })
        .on_dead(move |_message, _why, tx| {
            let calls = counted.clone();
            Box::pin(async move { full(tx, 1, &calls).await })
        });
    let worker = Working::start(Worker::new(&fresh.db).pipeline(stage));
    queue.push(&fresh.db, &1).await?;
    drained(&fresh.db, "numbers").await?;
    worker.stop().await?;
    let dead = fresh.db.dead("numbers").list(10).await?;
    assert_eq!(dead[0].error.as_deref(), Some("never"), "not without its note");
    assert_eq!(calls.0.load(Ordering::SeqCst), 2);
    Ok(())
}
