//! Tables, views and their parts that were changed by hand.

use pgflow_install_tests::{Directory, execute, refusal, value};
use pgflow_runtime::postgres::{MigrateError, Problem};
use pgflow_test_support::{TestDb, core};

async fn problems_after(change: &str) -> Vec<Problem> {
    let db = TestDb::new().await;
    execute(&db, change).await;
    match refusal(&db).await {
        MigrateError::Tampered { problems } => problems,
        other => panic!("expected a tampered schema, got {other:?}"),
    }
}

fn missing(object: &str) -> Problem {
    Problem::MissingObject(object.into())
}

fn added(object: &str) -> Problem {
    Problem::AddedObject(object.into())
}

async fn is_up_to_date(db: &TestDb) {
    assert_eq!(core().migrate(&db.pool).await.unwrap().applied, Vec::<String>::new());
}

#[tokio::test]
async fn a_dropped_constraint() {
    let problems =
        problems_after("alter table pgflow.step_tasks drop constraint valid_status").await;
    assert_eq!(problems, [missing("constraint valid_status of pgflow.step_tasks")]);
    let text = MigrateError::Tampered { problems }.to_string();
    let said = "changed by hand: constraint valid_status of pgflow.step_tasks is missing\nhelp: ";
    assert!(text.contains(said), "{text}");
}

#[tokio::test]
async fn a_dropped_primary_key_is_one_problem() {
    let problems =
        problems_after("alter table pgflow.event_log drop constraint event_log_pkey").await;
    assert_eq!(problems, [missing("constraint event_log_pkey of pgflow.event_log")]);
}

#[tokio::test]
async fn a_dropped_table_stands_for_its_columns() {
    let problems = problems_after("drop table pgflow.event_log cascade").await;
    let views = ["view pgflow.events", "view pgflow.workflow_events"].map(missing);
    let [events, workflow_events] = views;
    assert_eq!(problems, [missing("table pgflow.event_log"), events, workflow_events]);
}

#[tokio::test]
async fn a_dropped_view() {
    let problems = problems_after("drop view pgflow.workflow_events").await;
    assert_eq!(problems, [missing("view pgflow.workflow_events")]);
}

#[tokio::test]
async fn a_dropped_index() {
    let problems = problems_after("drop index pgflow.deps_by_step").await;
    assert_eq!(problems, [missing("index deps_by_step of pgflow.deps")]);
}

#[tokio::test]
async fn a_dropped_trigger() {
    let problems = problems_after("drop trigger workers_forget_deleted on pgflow.workers").await;
    assert_eq!(problems, [missing("trigger workers_forget_deleted of pgflow.workers")]);
}

#[tokio::test]
async fn a_dropped_column() {
    let problems = problems_after("alter table pgflow.step_tasks drop column lease_until").await;
    assert_eq!(problems, [missing("column lease_until of pgflow.step_tasks")]);
}

#[tokio::test]
async fn an_added_column() {
    let problems = problems_after("alter table pgflow.runs add column tenant text").await;
    assert_eq!(problems, [added("column tenant of pgflow.runs")]);
    assert_eq!(problems[0].to_string(), "unexpected column tenant of pgflow.runs");
}

#[tokio::test]
async fn columns_of_another_type_or_without_not_null() {
    let problems = problems_after(
        "alter table pgflow.step_tasks alter column lease_until type timestamp;
         alter table pgflow.step_tasks alter column attempts_count drop not null",
    )
    .await;
    let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let expected = [
        "column attempts_count of pgflow.step_tasks is `integer` instead of `integer not null`",
        "column lease_until of pgflow.step_tasks is `timestamp without time zone` \
         instead of `timestamp with time zone`",
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn added_tables_views_constraints_and_triggers() {
    let problems = problems_after(
        "create table pgflow.mine (id int primary key);
         create view pgflow.my_runs as select run_id from pgflow.runs;
         alter table pgflow.runs add constraint small check (remaining_steps < 100);
         create trigger mine after delete on pgflow.runs
           for each statement execute function pgflow._forget_workers()",
    )
    .await;
    let expected = [
        added("constraint small of pgflow.runs"),
        added("table pgflow.mine"),
        added("trigger mine of pgflow.runs"),
        added("view pgflow.my_runs"),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn users_may_add_indexes_and_drop_them_after_an_update() {
    let db = TestDb::new().await;
    execute(&db, "create index mine on pgflow.runs (status)").await;
    is_up_to_date(&db).await;

    let later = Directory::with_core();
    let name = format!("{:04}_more.sql", core().version() + 1);
    later.write(&name, "create index ours on pgflow.runs (status);");
    later.core().migrate(&db.pool).await.unwrap();
    execute(&db, "drop index pgflow.mine").await;
    later.core().migrate(&db.pool).await.unwrap();

    execute(&db, "drop index pgflow.ours").await;
    let error = later.core().migrate(&db.pool).await.unwrap_err();
    assert!(error.to_string().contains("index ours of pgflow.runs is missing"), "{error}");
}

#[tokio::test]
async fn users_tables_may_refer_to_ours() {
    let db = TestDb::new().await;
    execute(&db, "create table orders (run_id uuid references pgflow.runs)").await;
    is_up_to_date(&db).await;
}

#[tokio::test]
async fn the_callers_search_path_makes_no_difference() {
    let db = TestDb::new().await;
    let path = "search_path = public, pgflow, pg_catalog";
    let shadow = "create domain public.jsonb as text; create domain public.uuid as text";
    execute(&db, &format!("alter database {} set {path}; {shadow}", db.name())).await;
    let pool = sqlx::PgPool::connect(&db.url()).await.unwrap();
    assert!(core().migrate(&pool).await.unwrap().applied.is_empty());
}

#[tokio::test]
async fn an_installation_without_the_record_gets_it() {
    let db = TestDb::new().await;
    let installed = db.schema_dump().await;
    let count = "select count(*)::text from pgflow.migration_relations";
    let recorded = value(&db, count).await;
    execute(&db, "drop table pgflow.migration_relations").await;
    is_up_to_date(&db).await;
    assert_eq!(value(&db, count).await, recorded);
    assert_eq!(db.schema_dump().await.len(), installed.len());

    execute(&db, "drop view pgflow.workflow_events").await;
    assert!(refusal(&db).await.to_string().contains("view pgflow.workflow_events is missing"));
}
