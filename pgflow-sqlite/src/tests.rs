//! What can only be seen from inside: plans of statements, and a connection that can't write.

use pgflow_machine::{RunId, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use serde_json::json;
use sqlx::{AssertSqlSafe, Row};

use super::upkeep::{flows, runs, statistics};
use super::waits::children;
use super::{Sqlite, SqliteOptions, claim, list, load, lost, payloads, tasks, write};
use pgflow_backend::backend::{
    Backend, BackendError, Claim, Definitions, FlowVersion, NewRun, Runs, Work,
};

async fn with_flow() -> Sqlite {
    with_flow_in(&SqliteOptions::memory()).await
}

async fn with_flow_in(options: &SqliteOptions) -> Sqlite {
    let sqlite = Sqlite::open(options).await.expect("it opens");
    sqlite.migrate().await.expect("it gets its schema");
    let mut shape = FlowShape::new("orders");
    shape.steps = vec![StepShape::new("pay"), StepShape::new("ship").after("pay")];
    let version = FlowVersion { flow: "orders".into(), version: 1, slug: "orders".into(), shape };
    sqlite.ensure_flow(&version).await.expect("a flow");
    sqlite
}

fn new_run() -> NewRun {
    NewRun::new("orders", json!({ "text": "x".repeat(10_000) }), RunId::new())
}

/// The steps of a statement's plan.
async fn plan(sqlite: &Sqlite, sql: &str) -> Vec<String> {
    let explain = AssertSqlSafe(format!("explain query plan {sql}"));
    let rows = sqlx::query(explain).fetch_all(&sqlite.connections.writer).await.expect("a plan");
    rows.iter().map(|row| row.get("detail")).collect()
}

/// Every look into a table of ours is one by an index, of the given ones if there is a choice. Only parameters, and
/// subqueries that are small, are read as a whole.
fn assert_searches(plan: &[String], indexes: &[&str]) {
    let named = |kind: &'static str| plan.iter().filter_map(move |step| step.strip_prefix(kind));
    let small: Vec<_> = named("CO-ROUTINE ").chain(named("MATERIALIZE ")).collect();
    for scanned in named("SCAN ").filter(|scanned| !scanned.contains("VIRTUAL TABLE")) {
        assert!(small.contains(&scanned), "{scanned} is read as a whole: {plan:#?}");
    }
    for index in indexes {
        assert!(plan.iter().any(|step| step.contains(index)), "{index} is not used: {plan:#?}");
    }
}

#[tokio::test]
async fn claims_read_the_index_of_ready_tasks_only() {
    let sqlite = with_flow().await;
    let ready = plan(&sqlite, claim::READY).await;
    assert_searches(
        &ready,
        &["INDEX pgflow_tasks_ready_idx (queue=? AND ready_at>? AND ready_at<?)"],
    );
    assert_searches(&plan(&sqlite, claim::TAKE).await, &[]);
    let next = plan(&sqlite, claim::NEXT).await;
    assert_searches(&next, &["COVERING INDEX pgflow_tasks_ready_idx (queue=? AND ready_at>?)"]);
}

#[tokio::test]
async fn sweeps_and_lists_read_what_they_return() {
    let sqlite = with_flow().await;
    let lost = plan(&sqlite, lost::LOST).await;
    assert_searches(&lost, &["pgflow_tasks_lost_idx (lost_at<?)"]);
    let held = plan(&sqlite, lost::HELD).await;
    assert_searches(&held, &["pgflow_tasks_lost_idx (lost_at>?)"]);
    let listed = plan(&sqlite, list::LIST).await;
    let index = "COVERING INDEX pgflow_runs_flow_status_idx (flow=? AND status=?";
    assert_searches(&listed, &[index]);
    let open = plan(&sqlite, list::OPEN).await;
    assert_searches(&open, &["pgflow_runs_flow_status_idx (flow=? AND status=?"]);
}

/// Pages of a dashboard cost the same after a million runs.
#[tokio::test]
async fn pages_read_what_they_show() {
    let sqlite = with_flow().await;
    for sql in
        [runs::STEP_TIMES, runs::PLACE, payloads::OUTPUTS, payloads::WEIGHTS, statistics::ENDS]
    {
        assert_searches(&plan(&sqlite, sql).await, &["INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]);
    }
    let tasks = plan(&sqlite, runs::TASKS).await;
    assert_searches(&tasks, &["INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]);
    assert!(!tasks.iter().any(|step| step.contains("ORDER BY")), "sorts them: {tasks:#?}");
    let newest = plan(&sqlite, statistics::NEWEST).await;
    assert_searches(&newest, &["pgflow_runs_flow_status_idx (flow=? AND status=?"]);
    assert_searches(&plan(&sqlite, flows::HELD).await, &["pgflow_tasks_lost_idx (lost_at>?)"]);
}

#[tokio::test]
async fn loads_and_writes_find_rows_by_their_ids() {
    let sqlite = with_flow().await;
    let loads = [
        load::RUNS,
        load::STEPS,
        load::TASKS,
        load::ATTEMPTED,
        load::WEIGHTS,
        payloads::INPUTS,
        payloads::STEP_OUTPUTS,
    ];
    let writes = [tasks::COMPLETE, tasks::REPLACE, write::RUNS, write::STEPS, write::OUTPUTS];
    for sql in loads.into_iter().chain(writes) {
        assert_searches(&plan(&sqlite, sql).await, &[]);
    }
}

async fn pragma(sqlite: &Sqlite, sql: &'static str) {
    sqlx::query(sql).execute(&sqlite.connections.writer).await.expect("a pragma");
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_nothing_behind() {
    let name = format!("pgflow-full-{}.db", RunId::new());
    let file = std::env::temp_dir().join(name);
    let sqlite = with_flow_in(&SqliteOptions::file(&file)).await;
    // The file may not grow.
    pragma(&sqlite, "pragma max_page_count = 1").await;
    let run = new_run();
    let id = run.id;
    let mut big = run.clone();
    big.input = json!("x".repeat(1_000_000));
    let error = sqlite.start(big).await.expect_err("there is no space");
    assert!(matches!(error, BackendError::Unavailable(_)), "{error:?}");
    let text = std::error::Error::source(&error).expect("a reason").to_string();
    assert_eq!(text, "there is no space left for the database file");
    assert_eq!(
        sqlite.run(id, pgflow_backend::backend::Parts::Run).await.expect("it can be read"),
        None
    );
    // The limit was that of a connection which has been replaced.
    sqlite.start(run).await.expect("there is space again");
    sqlite.close().await.expect("it closes");
    std::fs::remove_file(file).expect("it was there");
}

#[tokio::test]
async fn a_database_that_cannot_write_says_so() {
    let sqlite = with_flow().await;
    sqlite.start(new_run()).await.expect("it can write");
    pragma(&sqlite, "pragma query_only = 1").await;
    let claim = Claim::of_queues(["orders"], 1, WorkerId::new());
    for error in [
        sqlite.start(new_run()).await.expect_err("it is read-only"),
        sqlite.claim(&claim).await.expect_err("it is read-only"),
    ] {
        assert!(matches!(error, BackendError::Unavailable(_)), "{error:?}");
    }
    pragma(&sqlite, "pragma query_only = 0").await;
    assert_eq!(sqlite.claim(&claim).await.expect("it can write").tasks.len(), 1);
}

#[tokio::test]
async fn the_checker_finds_what_is_wrong() {
    let sqlite = with_flow().await;
    sqlite.start(new_run()).await.expect("a run");
    assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new());
    for (damage, repair) in [
        (
            "update pgflow_runs set remaining_steps = 1",
            "update pgflow_runs set remaining_steps = 2",
        ),
        ("update pgflow_tasks set ready_at = null", "update pgflow_tasks set ready_at = 1"),
        (
            "update pgflow_steps set tasks = 2 where slug = 'pay'",
            "update pgflow_steps set tasks = 1",
        ),
        (
            "update pgflow_events set seq = 9 where seq = 1",
            "update pgflow_events set seq = 1 where seq = 9",
        ),
        ("update pgflow_steps set output = '1'", "update pgflow_steps set output = null"),
        ("update pgflow_runs set status = 'failed'", "update pgflow_runs set status = 'started'"),
    ] {
        pragma(&sqlite, damage).await;
        assert_ne!(sqlite.check().await.expect("checked"), Vec::<String>::new(), "{damage}");
        pragma(&sqlite, repair).await;
        assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new(), "{repair}");
    }
}

#[tokio::test]
async fn the_end_of_a_child_costs_the_same_however_many_there_are() {
    let sqlite = with_flow().await;
    let of_task = "run_id=? AND step=? AND task_index=?";
    let mut glance = plan(&sqlite, children::GLANCE).await;
    // The answer itself.
    glance.retain(|step| step != "SCAN CONSTANT ROW");
    for status in ["status=?", "status<?", "status>?"] {
        let index = format!("INDEX pgflow_awaited_status ({of_task} AND attempt=? AND {status})");
        assert_searches(&glance, &[&index]);
    }
    let seen = plan(&sqlite, children::SEEN).await;
    assert_searches(&seen, &[&format!("INDEX pgflow_awaited_news (is_news=? AND {of_task})")]);
}
