//! Migrating again, and migrating to something newer.

use pgflow_install_tests::{Directory, execute, reference, value};
use pgflow_test_support::{TestDb, core};

#[tokio::test]
async fn the_second_time_nothing_happens() {
    let db = TestDb::empty().await;
    let first = core().migrate(&db.pool).await.unwrap();
    assert!(first.applied.iter().any(|file| file == "functions/start_flow"));
    let installed = db.schema_dump().await;
    let second = core().migrate(&db.pool).await.unwrap();
    assert_eq!(second.applied, Vec::<String>::new());
    assert_eq!((second.version, &second.pgmq), (first.version, &first.pgmq));
    assert_eq!(db.schema_dump().await, installed);
}

#[tokio::test]
async fn what_is_pending_is_what_gets_applied() {
    let db = TestDb::empty().await;
    let before = core().pending(&db.pool).await.unwrap();
    assert!(!before.is_empty() && before.pgmq.is_none());
    assert_eq!(db.schema_dump().await, Vec::<String>::new(), "asking changes nothing");
    let report = core().migrate(&db.pool).await.unwrap();
    assert_eq!(report.applied, before.files);
    assert!(core().pending(&db.pool).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_file_is_recorded_with_its_checksum() {
    let db = TestDb::new().await;
    let wrong = "select count(*)::text from pgflow.migrations
        where checksum !~ '^[0-9a-f]{64}$' or applied_at is null or library = ''
           or (version is null) <> (name like '%/%')";
    assert_eq!(value(&db, wrong).await, "0");
    let numbered = "select max(version)::text from pgflow.migrations";
    assert_eq!(value(&db, numbered).await, core().version().to_string());
}

#[tokio::test]
async fn a_changed_function_is_applied_again_and_no_other() {
    let db = TestDb::new().await;
    let files = Directory::with_core();
    files.append("functions/calculate_retry_delay.sql", "-- a word more\n");
    execute(
        &db,
        "select pgwf.set_trace(false), pgwf.set_notify(true), pgwf.set_crash_concern_threshold(9)",
    )
    .await;
    let applied = files.core().migrate(&db.pool).await.unwrap().applied;
    let toggles = "select concat_ws(' ', pgwf.is_trace_enabled(), pgwf.is_notify_enabled(), pgwf.crash_concern_threshold())";
    assert_eq!(value(&db, toggles).await, "f t 9", "what an operator has set stays");
    let functions: Vec<_> = applied.iter().filter(|file| !file.starts_with("after/")).collect();
    assert_eq!(functions, ["functions/calculate_retry_delay"]);
    assert!(applied.iter().any(|file| file.starts_with("after/")), "grants follow every change");
    assert!(files.core().migrate(&db.pool).await.unwrap().applied.is_empty());
}

#[tokio::test]
async fn a_function_in_another_folder_is_not_applied_again() {
    let db = TestDb::new().await;
    let files = Directory::with_core();
    std::fs::create_dir(files.path().join("functions/elsewhere")).unwrap();
    let [from, to] = ["", "elsewhere/"]
        .map(|folder| files.path().join(format!("functions/{folder}calculate_retry_delay.sql")));
    std::fs::rename(from, to).unwrap();
    assert_eq!(files.core(), core());
    assert!(files.core().pending(&db.pool).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_new_numbered_file_is_applied_before_functions() {
    let db = TestDb::new().await;
    let files = Directory::with_core();
    let name = format!("{:04}_more", core().version() + 1);
    files.write(&format!("{name}.sql"), "create table pgflow.more (id int);");
    files.write(
        "functions/_first.sql",
        "create function pgflow._first() returns setof pgflow.more language sql
         as $$ select * from pgflow.more $$;",
    );
    let applied = files.core().migrate(&db.pool).await.unwrap().applied;
    assert_eq!(applied[..2], [name, "functions/_first".to_owned()]);
    assert_eq!(value(&db, "select count(*)::text from pgflow._first()").await, "0");
}

#[tokio::test]
async fn an_empty_schema_made_beforehand_is_used() {
    let db = TestDb::empty().await;
    execute(&db, "create schema pgflow; create schema pgmq").await;
    core().migrate(&db.pool).await.unwrap();
    assert_eq!(db.schema_dump().await, reference().await);
}

#[tokio::test]
async fn a_session_with_other_defaults_gets_the_same_core() {
    let db = TestDb::empty().await;
    let set = format!(
        "alter database {name} set search_path = elsewhere;
         alter database {name} set default_transaction_isolation = 'serializable';
         alter database {name} set check_function_bodies = on",
        name = db.name()
    );
    execute(&db, &set).await;
    db.pool.set_connect_options(db.url().parse().unwrap());
    let pool = sqlx::PgPool::connect(&db.url()).await.unwrap();
    core().migrate(&pool).await.unwrap();
    assert_eq!(db.schema_dump().await, reference().await);
}
