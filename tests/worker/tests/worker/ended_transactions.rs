//! Steps that end the transaction which their completion was to be recorded in.

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, on};
use sqlx::Connection;

#[data]
#[derive(Clone, Debug, PartialEq)]
enum Way {
    Fine,
    Savepoint,
    Rollback,
    RollbackAndBegin,
    Commit,
    CommitAndBegin,
    OrRollback,
    OrRollbackAndFail,
}

#[flow(input = Way, max_attempts = 1)]
mod ending {
    use super::*;

    #[step]
    pub(crate) async fn act(run: Way, tx: &mut Tx) -> Result<u8> {
        execute(tx, "insert into words values ('before')").await?;
        for statement in statements(&run) {
            // A conflict is an error, and the step ignores it.
            _ = execute(tx, statement).await;
        }
        execute(tx, "insert into words values ('after')").await?;
        if run == Way::OrRollbackAndFail { Err("it fails as well".into()) } else { Ok(1) }
    }
}

fn statements(way: &Way) -> &'static [&'static str] {
    match way {
        Way::Fine => &[],
        Way::Savepoint => &["savepoint mine", "insert into words values ('x')", "rollback to mine"],
        Way::Rollback => &["rollback"],
        Way::RollbackAndBegin => &["rollback", "begin"],
        Way::Commit => &["commit"],
        Way::CommitAndBegin => &["commit", "begin"],
        Way::OrRollback | Way::OrRollbackAndFail => &["insert or rollback into one values (1)"],
    }
}

async fn execute(tx: &mut Tx, statement: &'static str) -> Result<()> {
    if let Some(connection) = tx.postgres() {
        sqlx::query(statement).execute(connection).await?;
    } else if let Some(connection) = tx.mysql() {
        // It prepares no statements of transactions.
        sqlx::raw_sql(statement).execute(connection).await?;
    } else if let Some(connection) = tx.sqlite() {
        sqlx::query(statement).execute(connection).await?;
    }
    Ok(())
}

on!(sqlite: a_step_that_ends_its_transaction_has_failed, sqlite_ends_a_transaction_by_itself);
on!(mysql: a_step_that_ends_its_transaction_has_failed);
on!(postgres: a_step_that_ends_its_transaction_has_failed);

const TABLES: [&str; 3] = [
    "create table words (word varchar(20))",
    "create table one (n int primary key)",
    "insert into one values (1)",
];

/// What the step wrote, once its run has ended as it should.
async fn rows(fresh: &Fresh, way: Way, error: Option<&str>) -> Outcome<Vec<String>> {
    let run = fresh.db.start(ending::Flow, &way).await?;
    match (run.output().await, error) {
        (Ok(_), None) => {}
        (Err(found), Some(text)) => assert!(found.to_string().contains(text), "{way:?}: {found}"),
        (found, _) => panic!("{way:?}: {found:?}"),
    }
    let (all, none) = ("select word from words order by word desc", "delete from words");
    if fresh.url.starts_with("sqlite:") {
        let mut connection = sqlx::SqliteConnection::connect(&fresh.url).await?;
        let rows = sqlx::query_scalar(all).fetch_all(&mut connection).await?;
        sqlx::query(none).execute(&mut connection).await?;
        return Ok(rows);
    }
    if fresh.url.starts_with("mysql:") {
        let mut connection = sqlx::MySqlConnection::connect(&fresh.url).await?;
        let rows = sqlx::query_scalar(all).fetch_all(&mut connection).await?;
        sqlx::query(none).execute(&mut connection).await?;
        return Ok(rows);
    }
    let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
    let rows = sqlx::query_scalar(all).fetch_all(&mut connection).await?;
    sqlx::query(none).execute(&mut connection).await?;
    Ok(rows)
}

async fn make_tables(fresh: &Fresh) -> Outcome {
    for table in TABLES {
        if fresh.url.starts_with("sqlite:") {
            let mut connection = sqlx::SqliteConnection::connect(&fresh.url).await?;
            sqlx::query(table).execute(&mut connection).await?;
        } else if fresh.url.starts_with("mysql:") {
            let mut connection = sqlx::MySqlConnection::connect(&fresh.url).await?;
            sqlx::query(table).execute(&mut connection).await?;
        } else {
            let mut connection = sqlx::PgConnection::connect(&fresh.url).await?;
            sqlx::query(table).execute(&mut connection).await?;
        }
    }
    Ok(())
}

const ENDED: Option<&str> = Some("the step ended its transaction");

async fn a_step_that_ends_its_transaction_has_failed(fresh: Fresh) -> Outcome {
    make_tables(&fresh).await?;
    let worker = fresh.work(ending::Flow).await?;
    let cases = [
        (Way::Savepoint, None, &["before", "after"][..]),
        // What is written outside of a transaction is there at once.
        (Way::Rollback, ENDED, &["after"]),
        (Way::RollbackAndBegin, ENDED, &[]),
        (Way::Commit, ENDED, &["before", "after"]),
        (Way::CommitAndBegin, ENDED, &["before"]),
    ];
    for (way, error, expected) in cases {
        assert_eq!(rows(&fresh, way.clone(), error).await?, expected, "{way:?}");
        assert_eq!(rows(&fresh, Way::Fine, None).await?, ["before", "after"], "after {way:?}");
    }
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

async fn sqlite_ends_a_transaction_by_itself(fresh: Fresh) -> Outcome {
    make_tables(&fresh).await?;
    let worker = fresh.work(ending::Flow).await?;
    assert_eq!(rows(&fresh, Way::OrRollback, ENDED).await?, ["after"]);
    let failed = rows(&fresh, Way::OrRollbackAndFail, Some("it fails as well")).await?;
    assert_eq!(failed, ["after"], "nobody can undo what SQLite has committed");
    assert_eq!(rows(&fresh, Way::Fine, None).await?, ["before", "after"]);
    worker.stop().await?;
    Ok(())
}
