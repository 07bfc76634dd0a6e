//! Files that can't be databases, and schemas that don't fit.

use std::error::Error;

use pgflow_runtime::backend::{Backend, BackendError, Parts, Runs};
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions};
use pgflow_sqlite_tests::Scratch;
use sqlx::{Connection, SqliteConnection};

/// What an error says, with its cause.
fn text(error: &BackendError) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

async fn edit(scratch: &Scratch, sql: &'static str) {
    let url = format!("sqlite:{}", scratch.file().display());
    let mut connection = SqliteConnection::connect(&url).await.expect("the file is there");
    sqlx::query(sql).execute(&mut connection).await.expect("an edit");
}

#[tokio::test]
async fn a_missing_file_is_created_in_a_directory_that_is_there() {
    let scratch = Scratch::new();
    scratch.open().await;
    assert!(scratch.file().exists());
    let below = SqliteOptions::file(scratch.path().join("no/such/app.db"));
    let error = Sqlite::open(&below).await.expect_err("there is no such directory");
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    assert!(text(&error).ends_with("app.db: its directory does not exist"), "{}", text(&error));
    assert!(!scratch.path().join("no").exists(), "nothing is created");
}

#[tokio::test]
async fn another_file_or_a_directory_is_no_database() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file(), "a letter, long enough to be taken for a header ".repeat(50))
        .expect("a file");
    let error = Sqlite::open(&SqliteOptions::file(scratch.file())).await.expect_err("a letter");
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    assert!(text(&error).contains("not an SQLite database"), "{}", text(&error));

    let error = Sqlite::open(&SqliteOptions::file(scratch.path())).await.expect_err("a directory");
    assert!(matches!(error, BackendError::Refused(_)), "{error:?}");
    assert!(text(&error).contains("cannot open"), "{}", text(&error));
}

#[tokio::test]
async fn a_url_that_is_not_ours_is_refused() {
    let error = Sqlite::connect("postgre://localhost/app").await.expect_err("not SQLite's");
    assert!(text(&error).contains("neither `sqlite:` nor `file:`"), "{}", text(&error));
}

#[tokio::test]
async fn migrating_twice_or_at_once_is_migrating_once() {
    let scratch = Scratch::new();
    let options = SqliteOptions::file(scratch.file());
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let options = options.clone();
        all.spawn(async move { Sqlite::open(&options).await?.migrate().await });
    }
    for result in all.join_all().await {
        result.expect("all find it migrated");
    }
    scratch.open().await.migrate().await.expect("nothing is left to do");
}

#[tokio::test]
async fn a_schema_that_was_edited_or_is_newer_is_refused() {
    let scratch = Scratch::new();
    scratch.open().await;
    let refusal = || async {
        let sqlite = Sqlite::open(&SqliteOptions::file(scratch.file())).await.expect("it opens");
        sqlite.migrate().await.expect_err("it does not fit").to_string()
    };
    edit(&scratch, "insert into pgflow_migrations values ('9999_future', 'x', 0)").await;
    assert!(refusal().await.contains("it is newer: migration 9999_future"), "{}", refusal().await);
    edit(&scratch, "delete from pgflow_migrations where name = '9999_future'").await;
    edit(&scratch, "update pgflow_migrations set checksum = 'x' where name like '0002%'").await;
    assert!(refusal().await.contains("0002_runs was applied with other contents"));
    edit(&scratch, "update pgflow_migrations set name = '0002_other' where name like '0002%'")
        .await;
    assert!(refusal().await.contains("0002_other was applied where 0002_runs was expected"));
}

#[tokio::test]
async fn a_file_without_our_tables_says_what_to_do() {
    let scratch = Scratch::new();
    let sqlite = Sqlite::open(&SqliteOptions::file(scratch.file())).await.expect("it opens");
    let id = pgflow_machine::RunId::new();
    let error = sqlite.run(id, Parts::Run).await.expect_err("there are no tables");
    assert!(error.to_string().contains("call `migrate` first"), "{error}");
}

#[tokio::test]
async fn memory_is_one_connection_of_this_process() {
    let sqlite = Sqlite::connect("sqlite::memory:").await.expect("it opens");
    sqlite.migrate().await.expect("it gets its schema");
    assert!(!sqlite.abilities().multi_process);
    assert!(sqlite.abilities().transactions);
}
