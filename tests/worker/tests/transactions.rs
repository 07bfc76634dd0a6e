//! Steps that share the transaction which records their completion, and runs that start in one.

use pgflow::backend::BackendError;
use pgflow::prelude::*;
use pgflow::{ClientError, RunQuery, RunStatus};
use pgflow_worker_tests::{Fresh, Outcome, on};
use sqlx::Connection;

#[flow(input = Vec<i64>, base_delay = 1, max_attempts = 3)]
mod booking {
    use super::*;

    /// The first attempt at an odd number writes, and then fails.
    #[step(map)]
    pub(crate) async fn book(item: i64, tx: &mut Tx, ctx: Context) -> Result<i64> {
        insert(tx, item).await?;
        if item % 2 == 1 && ctx.attempt() == 1 {
            return Err("the lights went out".into());
        }
        Ok(item)
    }
}

#[flow(max_attempts = 1)]
mod child {
    #[step]
    pub(crate) async fn born() -> pgflow::Result<u8> {
        Ok(1)
    }
}

#[flow(input = bool, max_attempts = 1)]
mod parent {
    use super::*;

    #[step]
    pub(crate) async fn bear(run: bool, tx: &mut Tx, State(db): State<Db>) -> Result<String> {
        let child = db.start_in(tx, child::Flow, &()).await?;
        if run { Ok(child.id().to_string()) } else { Err("changed my mind".into()) }
    }
}

on!(sqlite: what_a_step_writes_is_there_once, a_run_starts_with_the_step, a_run_starts_with_its_caller, a_run_needs_a_transaction);
on!(postgres: what_a_step_writes_is_there_once, a_run_starts_with_the_step, a_run_starts_with_its_caller, a_run_needs_a_transaction);

async fn insert(tx: &mut Tx, item: i64) -> Result<()> {
    if let Some(connection) = tx.postgres() {
        sqlx::query("insert into public.booked values ($1)").bind(item).execute(connection).await?;
    } else if let Some(connection) = tx.sqlite() {
        sqlx::query("insert into booked values ($1)").bind(item).execute(connection).await?;
    }
    Ok(())
}

/// Runs a statement of the application's, and counts the rows of its table.
async fn booked(fresh: &Fresh, statement: Option<&'static str>) -> Outcome<Vec<i64>> {
    let query = "select item from booked order by item";
    if fresh.url.starts_with("sqlite:") {
        let mut connection = sqlx::SqliteConnection::connect(&fresh.url).await?;
        if let Some(statement) = statement {
            sqlx::query(statement).execute(&mut connection).await?;
        }
        return Ok(sqlx::query_scalar(query).fetch_all(&mut connection).await?);
    }
    let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
    if let Some(statement) = statement {
        sqlx::query(statement).execute(&mut connection).await?;
    }
    Ok(sqlx::query_scalar(query).fetch_all(&mut connection).await?)
}

async fn what_a_step_writes_is_there_once(fresh: Fresh) -> Outcome {
    booked(&fresh, Some("create table booked (item bigint)")).await?;
    let worker = fresh.work(booking::Flow).await?;
    let items: Vec<i64> = (0..10).collect();
    let run = fresh.db.start(booking::Flow, &items).await?;
    assert_eq!(run.output().await?.book, items);
    assert_eq!(booked(&fresh, None).await?, items, "what failed attempts wrote is gone");
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.superseded, report.lost), (15, 0, 0), "{report}");
    Ok(())
}

async fn a_run_starts_with_the_step(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(child::Flow).await?;
    db.register(parent::Flow).await?;
    let worker = Worker::new(db).flow(child::Flow).flow(parent::Flow).state(db.clone());
    let worker = pgflow_worker_tests::Working::start(worker);
    let childless = db.start(parent::Flow, &false).await?;
    assert_eq!(childless.wait().await?, RunStatus::Failed);
    let query = RunQuery { flows: vec!["child".into()], ..RunQuery::default() };
    assert_eq!(db.list(&query).await?.runs, [], "its step did not complete");
    let id = db.start(parent::Flow, &true).await?.output().await?.bear.parse()?;
    let child = db.get::<child::Flow>(id).await?.expect("its parent completed");
    assert_eq!(child.output().await?.born, 1);
    worker.stop().await?;
    Ok(())
}

async fn a_run_starts_with_its_caller(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(child::Flow).await?;
    for commits in [false, true] {
        let id = if fresh.url.starts_with("sqlite:") {
            let mut connection = sqlx::SqliteConnection::connect(&fresh.url).await?;
            let mut tx = connection.begin_with("begin immediate").await?;
            let run = db.start_in(&mut tx, child::Flow, &()).await?;
            if commits {
                tx.commit().await?;
            } else {
                tx.rollback().await?;
            }
            run.id()
        } else {
            let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
            let mut tx = connection.begin().await?;
            let run = db.start_in(&mut tx, child::Flow, &()).await?;
            assert!(db.get::<child::Flow>(run.id()).await?.is_none(), "nobody sees it before");
            if commits {
                tx.commit().await?;
            } else {
                tx.rollback().await?;
            }
            run.id()
        };
        assert_eq!(db.get::<child::Flow>(id).await?.is_some(), commits);
    }
    Ok(())
}

async fn a_run_needs_a_transaction(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(child::Flow).await?;
    let refused = if fresh.url.starts_with("sqlite:") {
        let mut connection = sqlx::SqliteConnection::connect(&fresh.url).await?;
        db.start_in(&mut connection, child::Flow, &()).await
    } else {
        let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
        db.start_in(&mut connection, child::Flow, &()).await
    };
    let error = refused.expect_err("it would be there at once");
    assert!(matches!(error, ClientError::Backend(BackendError::NoTransaction)), "{error:?}");
    assert_eq!(db.list(&RunQuery::default()).await?.runs, []);
    Ok(())
}
