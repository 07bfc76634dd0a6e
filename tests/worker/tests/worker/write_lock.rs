//! Steps with `tx` on SQLite, which have the one write lock of the file while they run.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions};
use pgflow_worker_tests::{Fresh, Outcome, Working};

#[data]
#[derive(Clone, Debug, PartialEq)]
enum Way {
    StartInside,
    StartElsewhere,
    Endless,
    Fine,
}

/// Another database, in another file.
#[derive(Clone)]
struct Elsewhere(Db);

#[flow(slug = "child_write_lock", max_attempts = 1)]
mod child {
    #[step]
    pub(crate) async fn born() -> pgflow::Result<u8> {
        Ok(1)
    }
}

#[flow(input = Way, max_attempts = 1, timeout = 2)]
mod holding {
    use super::*;

    #[step]
    pub(crate) async fn act(
        run: Way,
        tx: &mut Tx,
        State(db): State<Db>,
        State(elsewhere): State<Elsewhere>,
    ) -> Result<u8> {
        match run {
            Way::StartInside => drop(db.start(child::Flow, &()).await?),
            Way::StartElsewhere => drop(elsewhere.0.start(child::Flow, &()).await?),
            Way::Endless => endless(tx).await?,
            Way::Fine => {}
        }
        Ok(1)
    }
}

async fn endless(tx: &mut Tx) -> Result<()> {
    let query =
        "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let connection = tx.sqlite().ok_or("not on SQLite")?;
    sqlx::query(query).execute(connection).await?;
    Ok(())
}

async fn start() -> Outcome<(Fresh, Fresh, Working)> {
    let (fresh, other) = (Fresh::sqlite().await?, Fresh::sqlite().await?);
    fresh.db.register(holding::Flow).await?;
    fresh.db.register(child::Flow).await?;
    other.db.register(child::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(holding::Flow).state(fresh.db.clone());
    let worker = Working::start(worker.state(Elsewhere(other.db.clone())));
    Ok((fresh, other, worker))
}

/// Why it failed, or nothing.
async fn outcome(fresh: &Fresh, way: Way) -> Outcome<String> {
    let run = fresh.db.start(holding::Flow, &way).await?;
    let outcome = tokio::time::timeout(Duration::from_mins(1), run.output()).await?;
    Ok(outcome.err().map(|error| error.to_string()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_would_wait_for_itself_is_told_at_once() -> Outcome {
    let (fresh, _other, worker) = start().await?;
    let error = outcome(&fresh, Way::StartInside).await?;
    assert!(error.contains("db.start_in(tx, …)"), "not that its time was over: {error}");
    assert_eq!(outcome(&fresh, Way::StartElsewhere).await?, "", "another file is not locked");
    worker.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_is_interrupted() -> Outcome {
    let (fresh, _other, worker) = start().await?;
    let error = outcome(&fresh, Way::Endless).await?;
    assert!(error.contains("timed out: the handler was aborted after 2 s"), "{error}");
    assert_eq!(outcome(&fresh, Way::Fine).await?, "");
    worker.stop().await?;
    Ok(())
}

#[flow(slug = "slow_write_lock", input = u64, max_attempts = 1, timeout = 60)]
mod slow {
    use super::*;

    #[step]
    pub(crate) async fn hold(run: u64, tx: &mut Tx) -> Result<u64> {
        assert!(tx.sqlite().is_some(), "it has the lock");
        tokio::time::sleep(Duration::from_millis(run)).await;
        Ok(run)
    }
}

/// Long before the step's own time is over: others wait for the lock.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_keeps_the_lock_too_long_is_aborted() -> Outcome {
    let fresh = Fresh::sqlite().await?;
    let file = fresh.url.trim_start_matches("sqlite:");
    let options = SqliteOptions::file(file).longest_tx(Duration::from_millis(700));
    let db = Db::new(Sqlite::open(&options).await?);
    db.register(slow::Flow).await?;
    let worker = Working::start(Worker::new(&db).flow(slow::Flow));
    let run = db.start(slow::Flow, &3_600_000).await?;
    let error = tokio::time::timeout(Duration::from_mins(1), run.output()).await?;
    let error = error.expect_err("nobody waits for an hour").to_string();
    assert!(error.contains("aborted after 0.7 s"), "{error}");
    assert!(error.contains("SqliteOptions::longest_tx"), "it says what to change: {error}");
    assert_eq!(db.start(slow::Flow, &10).await?.output().await?.hold, 10, "less is fine");
    worker.stop().await?;
    Ok(())
}
