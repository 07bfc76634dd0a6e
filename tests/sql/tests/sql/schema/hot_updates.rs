//! Changes of status touch no index.

use crate::harness::{Db, define};

/// Columns that an index of the table holds or decides by.
fn indexed(table: &str) -> String {
    format!(
        "select distinct a.attname from pg_index i
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum > 0 and (a.attnum = any (i.indkey)
            or pg_get_expr(i.indpred, i.indrelid) ~ ('\\m' || a.attname || '\\M'))
         where i.indrelid = 'pgflow.{table}'::regclass order by 1"
    )
}

#[tokio::test]
async fn no_index_holds_a_column_that_changes() {
    let db = Db::new().await;
    // The first two change only in runs that fail or are cancelled.
    let runs = ["cancelled_at", "failed_at", "flow_slug", "run_id", "started_at"];
    assert_eq!(db.rows(&indexed("runs")).await, runs);
    assert_eq!(db.rows(&indexed("step_states")).await, ["run_id", "step_slug"]);
    assert_eq!(db.rows(&indexed("step_tasks")).await, ["run_id", "step_slug", "task_index"]);
}

/// The server itself says so of a run that is completed.
#[tokio::test]
async fn a_run_that_completes_touches_no_index() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let mut session = db.session().await;
    session.run("begin").await;
    session.run(&format!("select pgflow.complete_task('{}', 'a', 0, '1')", run.id)).await;
    let updates = "select n_tup_upd > 0, n_tup_upd = n_tup_hot_upd from pg_stat_xact_user_tables
        where relid = 'pgflow.runs'::regclass";
    assert_eq!(session.rows(updates).await, ["t|t"]);
    session.run("commit").await;
    assert_eq!(db.one("select status from pgflow.runs").await, "completed");
}

#[tokio::test]
async fn pages_leave_room_for_the_next_version() {
    let db = Db::new().await;
    for table in ["runs", "step_states", "step_tasks"] {
        let option = format!(
            "select reloptions::text like '%fillfactor=%' from pg_class where oid = 'pgflow.{table}'::regclass"
        );
        assert_eq!(db.one(&option).await, "t", "{table}");
    }
}
