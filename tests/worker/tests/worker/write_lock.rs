//! Steps with `tx` on SQLite, which have the one write lock of the file while they run.

use std::time::Duration;

use pgflow::prelude::*;
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
