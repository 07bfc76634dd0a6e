//! Steps that share the transaction which records their completion, and runs that start in one.

use std::time::Duration;

use pgflow::backend::BackendError;
use pgflow::prelude::*;
use pgflow::{ClientError, RunStatus, client::RunQuery};
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

/// What a step does to its own transaction.
#[flow(input = u32, base_delay = 1, max_attempts = 2)]
mod spoiling {
    use super::*;

    #[step]
    pub(crate) async fn spoil(run: u32, tx: &mut Tx) -> Result<u32> {
        let statement = match run {
            0 => "set local role pgflow_test_nobody",
            1 => "set transaction read only",
            _ => "insert into full_disk values (1)",
        };
        let connection = tx.postgres().ok_or("not on Postgres")?;
        sqlx::query(statement).execute(connection).await?;
        Ok(run)
    }
}

on!(sqlite: what_a_step_writes_is_there_once, a_run_starts_with_the_step, a_run_starts_with_its_caller, a_run_needs_a_transaction);
on!(mysql: what_a_step_writes_is_there_once, a_run_starts_with_the_step, a_run_starts_with_its_caller, a_run_needs_a_transaction);
on!(postgres: a_step_that_spoils_its_transaction_has_failed, an_excuse_that_nothing_confirms_has_an_end, what_a_step_writes_is_there_once, a_run_starts_with_the_step, a_run_starts_with_its_caller, a_run_needs_a_transaction);

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
    if fresh.url.starts_with("mysql:") {
        let mut connection = sqlx::MySqlConnection::connect(&fresh.url).await?;
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
        } else if fresh.url.starts_with("mysql:") {
            // The application's sessions are its own: another time zone must not matter.
            let mut connection = sqlx::MySqlConnection::connect(&fresh.url).await?;
            sqlx::query("set time_zone = '-09:30'").execute(&mut connection).await?;
            let mut tx = connection.begin().await?;
            let run = db.start_in(&mut tx, child::Flow, &()).await?;
            assert!(db.get::<child::Flow>(run.id()).await?.is_none(), "nobody sees it before");
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
    } else if fresh.url.starts_with("mysql:") {
        let mut connection = sqlx::MySqlConnection::connect(&fresh.url).await?;
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

pub(crate) const NOBODY: &str = "do $$ begin create role pgflow_test_nobody;
  exception when duplicate_object or unique_violation then null; end $$";

/// Other connections can do what it cannot: it is not the database that is in trouble.
async fn a_step_that_spoils_its_transaction_has_failed(fresh: Fresh) -> Outcome {
    let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
    sqlx::raw_sql(NOBODY).execute(&mut connection).await?;
    let worker = fresh.work(spoiling::Flow).await?;
    for (way, why) in [(0, "permission denied"), (1, "read-only transaction")] {
        let run = fresh.db.start(spoiling::Flow, &way).await?;
        let output = tokio::time::timeout(Duration::from_mins(1), run.output()).await?;
        let error = output.expect_err("it cannot be recorded").to_string();
        assert!(error.contains(why), "{error}");
    }
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.released), (4, 0), "each attempt counts: {report}");
    Ok(())
}

pub(crate) const FULL: &str = "create table full_disk (n int);
  create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$;
  create constraint trigger no_room after insert on full_disk deferrable initially deferred
    for each row execute function no_room()";

/// The database says that its disk is full, to nobody but this step.
async fn an_excuse_that_nothing_confirms_has_an_end(fresh: Fresh) -> Outcome {
    let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
    sqlx::raw_sql(FULL).execute(&mut connection).await?;
    let worker = fresh.work(spoiling::Flow).await?;
    let run = fresh.db.start(spoiling::Flow, &2).await?;
    // The run says what it waits for. Then the database has counted many attempts that were forgiven.
    let many = "update pgflow.step_tasks set attempts_count = 30, refunded_count = 30
      where status = 'queued' and yield_reason like 'commit: %no room%'";
    while sqlx::query(many).execute(&mut connection).await?.rows_affected() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let output = tokio::time::timeout(Duration::from_mins(1), run.output()).await?;
    let error = output.expect_err("it cannot be recorded").to_string();
    assert!(error.contains("no room"), "{error}");
    assert_eq!(worker.stop().await?.settled, 2, "from then on attempts count");
    Ok(())
}
