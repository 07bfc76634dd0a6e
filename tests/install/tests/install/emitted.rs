//! Files for other tools.

use std::path::PathBuf;
use std::process::Command;

use pgflow_install_tests::{Directory, reference, value};
use pgflow_runtime::postgres::{EmitError, Format, install_pgmq};
use pgflow_test_support::{Server, TestDb, core};

async fn with_pgmq() -> TestDb {
    let db = TestDb::empty().await;
    install_pgmq(&db.pool).await.unwrap();
    db
}

async fn psql(db: &TestDb, args: &[&str]) -> Result<(), String> {
    let program = Server::shared().await.program("psql");
    let options = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &db.url()];
    let output = Command::new(program).args(options).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// The same as `migrate` makes, and `migrate` agrees.
async fn assert_is_complete(db: &TestDb) {
    assert_eq!(db.schema_dump().await, reference().await);
    assert_eq!(core().migrate(&db.pool).await.unwrap().applied, Vec::<String>::new());
}

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn one_file_for_psql() {
    let (db, dir) = (with_pgmq().await, Directory::empty());
    let files = core().emit(Format::Psql, dir.path()).unwrap();
    assert_eq!(names(&files), ["pgflow.sql"]);
    let file = files[0].display().to_string();
    psql(&db, &["-f", &file]).await.unwrap();
    assert_is_complete(&db).await;
    psql(&db, &["-f", &file]).await.expect("the file can be run again");
    assert_is_complete(&db).await;
}

#[tokio::test]
async fn a_sequence_that_sqlx_itself_applies() {
    let (db, dir) = (with_pgmq().await, Directory::empty());
    let files = core().emit(Format::Sqlx, dir.path()).unwrap();
    assert_eq!(names(&files).first().unwrap(), "0001_pgflow_schema.sql");
    assert!(names(&files).last().unwrap().ends_with("_pgflow_functions.sql"));
    let migrator = sqlx::migrate::Migrator::new(dir.path()).await.unwrap();
    migrator.run(&db.pool).await.unwrap();
    migrator.run(&db.pool).await.unwrap();
    assert_is_complete(&db).await;
}

#[tokio::test]
async fn a_sequence_for_refinery() {
    let (db, dir) = (with_pgmq().await, Directory::empty());
    let files = core().emit(Format::Refinery, dir.path()).unwrap();
    assert_eq!(names(&files).first().unwrap(), "V1__pgflow_schema.sql");
    for file in &files {
        psql(&db, &["-1", "-f", &file.display().to_string()]).await.unwrap();
    }
    assert_is_complete(&db).await;
}

#[tokio::test]
async fn without_pgmq_a_file_says_what_is_missing() {
    for format in [Format::Psql, Format::Sqlx, Format::Refinery] {
        let (db, dir) = (TestDb::empty().await, Directory::empty());
        let files = core().emit(format, dir.path()).unwrap();
        let error = psql(&db, &["-1", "-f", &files[0].display().to_string()]).await.unwrap_err();
        assert!(error.contains("pgflow needs pgmq 1.5 or later"), "{error}");
        assert_eq!(db.schema_dump().await, Vec::<String>::new());
    }
}

#[test]
fn a_sequence_continues_what_is_there() {
    let dir = Directory::empty();
    dir.write("0041_users.sql", "create table users ();");
    let first = core().emit(Format::Sqlx, dir.path()).unwrap();
    assert_eq!(names(&first).first().unwrap(), "0042_pgflow_schema.sql");
    assert!(core().emit(Format::Sqlx, dir.path()).unwrap().is_empty(), "nothing is new");
}

#[tokio::test]
async fn a_later_version_adds_only_what_changed() {
    let (db, dir, later) = (with_pgmq().await, Directory::empty(), Directory::with_core());
    core().emit(Format::Sqlx, dir.path()).unwrap();
    let first = sqlx::migrate::Migrator::new(dir.path()).await.unwrap();
    first.run(&db.pool).await.unwrap();

    later.append("functions/calculate_retry_delay.sql", "-- a word more\n");
    let number = core().version() + 1;
    later.write(&format!("{number:04}_more.sql"), "create table pgflow.more (id int);");
    let added = names(&later.core().emit(Format::Sqlx, dir.path()).unwrap());
    let expected = [
        format!("{:04}_pgflow_more.sql", number + 1),
        format!("{:04}_pgflow_functions.sql", number + 2),
    ];
    assert_eq!(added, expected);
    sqlx::migrate::Migrator::new(dir.path()).await.unwrap().run(&db.pool).await.unwrap();
    assert!(later.core().migrate(&db.pool).await.unwrap().applied.is_empty());
    assert_eq!(value(&db, "select count(*)::text from pgflow.more").await, "0");
}

#[test]
fn a_numbered_file_is_never_replaced() {
    let (dir, other) = (Directory::empty(), Directory::with_core());
    core().emit(Format::Refinery, dir.path()).unwrap();
    other.append("0001_schema.sql", "-- another text\n");
    let error = other.core().emit(Format::Refinery, dir.path()).unwrap_err();
    assert!(matches!(&error, EmitError::Changed { unit, .. } if unit == "0001_schema"), "{error}");
}
