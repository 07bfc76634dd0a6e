//! Needs that share the transaction which records how their attempt ended, jobs that are submitted in one, and limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pgflow::client::ClientError;
use pgflow::job::Policy;
use pgflow::job::Wait;
use pgflow::pipeline::{OnFailure, Queue};
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use sqlx::Connection;

#[job]
mod booking {
    use super::*;

    /// The first attempt at an odd number writes, and then fails.
    #[need(max_attempts = 3, base_delay = 0)]
    pub(crate) async fn book(job: i64, tx: &mut Tx, ctx: JobContext) -> Result<Next> {
        insert(tx, job).await?;
        if job % 2 == 1 && ctx.attempt() == 1 {
            return Err("the lights went out".into());
        }
        if job == 8 {
            ctx.submit::<book>(&100)?;
        }
        Ok(Next::to::<sent>(job))
    }

    #[need]
    pub(crate) async fn sent(job: i64, tx: &mut Tx, State(db): State<Db>) -> Result<Next> {
        if job == 4 {
            db.submit_in::<book>(tx, &200).await?;
        }
        Ok(Next::done(job))
    }

    /// What comes next can't be, so nothing of it is.
    #[need]
    pub(crate) async fn impossible(job: i64, tx: &mut Tx) -> Result<Next> {
        insert(tx, job).await?;
        let nobody: pgflow::job::JobId = "nobody".parse()?;
        Ok(Next::to::<sent>(job).after([Wait::from(nobody).or(Policy::Fail)]))
    }
}

#[derive(Clone, Default)]
struct Crowd {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

#[job]
mod crowded {
    use super::*;

    #[need]
    pub(crate) async fn enter(State(crowd): State<Crowd>) -> Result<Next> {
        let now = crowd.now.fetch_add(1, Ordering::SeqCst) + 1;
        crowd.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
        crowd.now.fetch_sub(1, Ordering::SeqCst);
        Ok(Next::done(now))
    }
}

on!(memory: a_limit_holds, memory_has_no_transactions);
on!(sqlite: what_a_need_writes_is_there_once, a_job_comes_with_its_caller, a_message_comes_with_its_caller, a_limit_holds);
on!(mysql: what_a_need_writes_is_there_once, a_job_comes_with_its_caller, a_message_comes_with_its_caller, a_limit_holds);
on!(postgres: what_a_need_writes_is_there_once, a_job_comes_with_its_caller, a_message_comes_with_its_caller, a_limit_holds);

async fn insert(tx: &mut Tx, item: i64) -> Result<()> {
    if let Some(connection) = tx.postgres() {
        sqlx::query("insert into public.booked values ($1)").bind(item).execute(connection).await?;
    } else if let Some(connection) = tx.mysql() {
        sqlx::query("insert into booked values (?)").bind(item).execute(connection).await?;
    } else if let Some(connection) = tx.sqlite() {
        sqlx::query("insert into booked values ($1)").bind(item).execute(connection).await?;
    }
    Ok(())
}

const CREATE: &str = "create table booked (item bigint)";
const BOOKED: &str = "select item from booked order by item";

async fn booked(fresh: &Fresh) -> Outcome<Vec<i64>> {
    Ok(
        with_connection!(fresh, connection => sqlx::query_scalar(BOOKED).fetch_all(&mut connection).await?),
    )
}

async fn what_a_need_writes_is_there_once(fresh: Fresh) -> Outcome {
    with_connection!(fresh, connection => {
        sqlx::query(CREATE).execute(&mut connection).await?;
    });
    let worker = Worker::new(&fresh.db).job(booking::Job).state(fresh.db.clone());
    let worker = Working::start(worker);
    let jobs = fresh.db.submit_all::<booking::book>(0..10).await?;
    for (n, job) in (0..).zip(&jobs) {
        assert_eq!(job.output::<i64>().await?, n);
    }
    let last = async {
        loop {
            let all = booked(&fresh).await?;
            if all.len() >= 12 {
                return Outcome::Ok(all);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let all = tokio::time::timeout(Duration::from_secs(30), last).await??;
    let expected: Vec<i64> = (0..10).chain([100, 200]).collect();
    assert_eq!(all, expected, "what failed attempts wrote is gone, what they forked came once");
    let job = fresh.db.submit::<booking::impossible>(&999).await?;
    assert_eq!(job.wait().await?.to_string(), "failed");
    assert_eq!(booked(&fresh).await?, expected, "it was undone");
    let report = worker.stop().await?;
    assert_eq!((report.superseded, report.lost), (0, 0), "{report}");
    Ok(())
}

async fn a_job_comes_with_its_caller(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    for commits in [false, true] {
        let begin = if fresh.url.starts_with("sqlite:") { "begin immediate" } else { "begin" };
        let id = format!("order {commits}");
        with_connection!(fresh, connection => {
            let mut tx = connection.begin_with(begin).await?;
            let job = db.submit::<booking::sent>(&1).id(&id).key("one").within(&mut tx).await?;
            assert!(job.is_new());
            let again = db.submit::<booking::sent>(&2).id(&id).within(&mut tx).await?;
            assert!(!again.is_new(), "a name is used once");
            if commits { tx.commit().await? } else { tx.rollback().await? }
        });
        let found = db.job(&id.parse()?).status().await;
        if commits {
            assert_eq!(found?.to_string(), "READY");
        } else {
            assert!(matches!(found, Err(ClientError::UnknownJob { .. })), "{found:?}");
        }
    }
    with_connection!(fresh, connection => {
        let refused = db.submit_in::<booking::sent>(&mut connection, &1).await;
        assert!(refused.is_err(), "without a transaction it would be there at once");
    });
    Ok(())
}

/// Also where messages are more than a job: with a place, a batch key and a resource.
async fn a_message_comes_with_its_caller(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    let queue = Queue::<u32>::named("numbers")
        .serial_by(|number| (number % 2).to_string(), OnFailure::Continue)
        .fair_by(|number| (number % 2).to_string())
        .batch_by(|number| (number % 3).to_string())
        .resources(|_| vec![("gpu".to_owned(), 1)]);
    for commits in [false, true] {
        let begin = if fresh.url.starts_with("sqlite:") { "begin immediate" } else { "begin" };
        db.resource("gpu").capacity(1).await?;
        with_connection!(fresh, connection => {
            let mut tx = connection.begin_with(begin).await?;
            for number in [1, 3, 2] {
                queue.push_in(&mut tx, &number).await?;
            }
            if commits { tx.commit().await? } else { tx.rollback().await? }
        });
        assert_eq!(db.queue("numbers").stats().await?.depth, if commits { 3 } else { 0 });
    }
    with_connection!(fresh, connection => {
        let mut tx = connection.begin_with("begin").await?;
        let unknown = Queue::<u32>::named("others").resources(|_| vec![("none".to_owned(), 1)]);
        let refused = unknown.push_in(&mut tx, &1).await.expect_err("there is no such resource");
        assert!(refused.to_string().contains("none"), "{refused}");
        tx.rollback().await?;
        let refused = queue.push_in(&mut connection, &1).await;
        assert!(refused.is_err(), "without a transaction it would be there at once");
    });
    Ok(())
}

async fn a_limit_holds(fresh: Fresh) -> Outcome {
    let crowd = Crowd::default();
    let worker = Worker::new(&fresh.db).job(crowded::Job).state(crowd.clone());
    let worker = Working::start(worker.limit_need("crowded.enter", 2).concurrency(16));
    let jobs = fresh.db.submit_all::<crowded::enter>(vec![(); 12]).await?;
    for job in jobs {
        job.wait().await?;
    }
    let most = crowd.most.load(Ordering::SeqCst);
    assert!((1..=2).contains(&most), "{most} at once");
    worker.stop().await?;
    let worker = Worker::new(&fresh.db).job(crowded::Job).state(crowd).limit_need("other", 2);
    let refused = worker.run(std::future::pending()).await.expect_err("nobody handles that");
    assert!(refused.to_string().contains("other"), "{refused}");
    Ok(())
}

async fn memory_has_no_transactions(fresh: Fresh) -> Outcome {
    let worker = Worker::new(&fresh.db).job(booking::Job).state(fresh.db.clone());
    let refused = worker.run(std::future::pending()).await.expect_err("no transactions");
    assert!(refused.to_string().contains("booking."), "{refused}");
    Ok(())
}
