//! Databases that are not to be touched.

use pgflow_install_tests::{execute, refusal};
use pgflow_runtime::postgres::{MigrateError, Problem, install_pgmq};
use pgflow_test_support::TestDb;

async fn after(change: &str) -> MigrateError {
    let db = TestDb::new().await;
    execute(&db, change).await;
    refusal(&db).await
}

fn problems(error: MigrateError) -> Vec<Problem> {
    match error {
        MigrateError::Tampered { problems } => problems,
        other => panic!("expected a tampered schema, got {other:?}"),
    }
}

#[tokio::test]
async fn a_schema_of_a_newer_library() {
    let error = after("update pgflow.migrations set library = '99.1.0' where version = 1").await;
    assert!(matches!(&error, MigrateError::Newer { .. }));
    let text = error.to_string();
    assert!(text.contains("newer (version 99.1.0) than this library knows"), "{text}");
    assert!(text.contains("help: update the pgflow crate"), "{text}");
}

#[tokio::test]
async fn a_schema_with_a_later_numbered_file() {
    let error = after(
        "insert into pgflow.migrations (name, version, checksum, library)
         values ('9999_later', 9999, 'x', '0.0.1')",
    )
    .await;
    let MigrateError::Newer { found, .. } = &error else { panic!("{error:?}") };
    assert_eq!(found, "9999_later");
}

#[tokio::test]
async fn a_numbered_file_with_other_contents() {
    let error = after("update pgflow.migrations set checksum = 'other' where version = 2").await;
    let text = error.to_string();
    assert!(matches!(&problems(error)[..], [Problem::File(name)] if name.starts_with("0002_")));
    assert!(text.contains("was applied with other contents\nhelp: "), "{text}");
}

#[tokio::test]
async fn a_function_with_another_body() {
    let error = after(
        "update pg_proc set prosrc = prosrc || ' -- by hand'
         where oid = 'pgflow.calculate_retry_delay(numeric, int)'::regprocedure",
    )
    .await;
    let expected = Problem::Function("calculate_retry_delay(numeric, int4)".into());
    assert_eq!(problems(error), [expected]);
}

#[tokio::test]
async fn a_function_with_another_search_path() {
    let error = after("alter function pgflow.is_valid_slug(text) set search_path = public").await;
    assert_eq!(problems(error), [Problem::Function("is_valid_slug(text)".into())]);
}

#[tokio::test]
async fn a_function_that_runs_as_its_owner_all_of_a_sudden() {
    let error = after("alter function pgflow.is_valid_slug(text) security definer").await;
    assert_eq!(problems(error), [Problem::Function("is_valid_slug(text)".into())]);
}

#[tokio::test]
async fn a_function_that_is_gone() {
    let error = after("drop function pgflow.mark_worker_stopped(uuid)").await;
    assert_eq!(problems(error), [Problem::MissingFunction("mark_worker_stopped(uuid)".into())]);
}

#[tokio::test]
async fn a_function_that_nobody_installed() {
    let error = after(
        "create function pgflow.mark_worker_stopped(worker_id text) returns void
         language sql as 'select'",
    )
    .await;
    assert_eq!(problems(error), [Problem::AddedFunction("mark_worker_stopped(text)".into())]);
}

#[tokio::test]
async fn all_problems_are_named_at_once() {
    let error = after(
        "update pgflow.migrations set checksum = 'other' where version in (1, 2);
         drop function pgflow.mark_worker_stopped(uuid)",
    )
    .await;
    assert_eq!(problems(error).len(), 3);
}

#[tokio::test]
async fn a_schema_of_somebody_else() {
    let db = TestDb::empty().await;
    execute(&db, "create schema pgflow; create table pgflow.flows (flow_slug text)").await;
    let error = refusal(&db).await;
    assert!(matches!(&error, MigrateError::Foreign { holds } if holds == "relation flows"));
    assert!(error.to_string().contains("that this library did not make"), "{error}");
}

#[tokio::test]
async fn a_schema_with_another_table_of_the_same_name() {
    let db = TestDb::empty().await;
    execute(&db, "create schema pgflow; create table pgflow.migrations (id int, name text)").await;
    assert!(matches!(refusal(&db).await, MigrateError::Foreign { .. }));
}

#[tokio::test]
async fn comments_and_grants_are_no_tampering() {
    let db = TestDb::new().await;
    execute(
        &db,
        "grant usage on schema pgflow to pg_monitor;
         grant execute on function pgflow.is_valid_slug(text) to pg_monitor;
         comment on function pgflow.is_valid_slug(text) is 'looked at'",
    )
    .await;
    assert!(pgflow_test_support::core().migrate(&db.pool).await.unwrap().applied.is_empty());
}

#[tokio::test]
async fn a_snippet_that_others_bring_along_is_no_tampering() {
    let db = TestDb::new().await;
    execute(
        &db,
        "create or replace function pgflow.prune_data_older_than(retention_interval interval) returns void
         language plpgsql as 'begin end'",
    )
    .await;
    assert!(pgflow_test_support::core().migrate(&db.pool).await.unwrap().applied.is_empty());
}

/// The facade is ours too.
#[tokio::test]
async fn a_function_of_pgwf_with_another_body() {
    let error = after(
        "update pg_proc set prosrc = prosrc || ' -- by hand'
         where oid = 'pgwf.complete_job(text, text, text)'::regprocedure",
    )
    .await;
    assert_eq!(problems(error), [Problem::Function("pgwf.complete_job(text, text, text)".into())]);
    let error = after("drop view pgwf.jobs_trace").await;
    assert_eq!(problems(error), [Problem::MissingObject("view pgwf.jobs_trace".into())]);
}

/// Somebody's own pgwf stays what it is.
#[tokio::test]
async fn a_pgwf_that_is_not_ours() {
    for contents in [
        "create table pgwf.jobs (job_id text)",
        "create function pgwf.f() returns int language sql as 'select 1'",
    ] {
        let db = TestDb::empty().await;
        install_pgmq(&db.pool).await.unwrap();
        execute(&db, &format!("create schema pgwf; {contents}")).await;
        let error = refusal(&db).await;
        let MigrateError::Apply { file, source } = &error else { panic!("{error:?}") };
        assert_eq!(file, "0018_pgwf");
        assert!(
            source.to_string().contains("a schema pgwf with contents that pgflow did not make"),
            "{source}"
        );
    }
}
