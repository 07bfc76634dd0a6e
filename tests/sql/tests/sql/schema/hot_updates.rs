//! Changes of status touch no index.

use crate::harness::Db;

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
    assert_eq!(db.rows(&indexed("runs")).await, ["flow_slug", "run_id", "started_at"]);
    assert_eq!(db.rows(&indexed("step_states")).await, ["run_id", "step_slug"]);
    assert_eq!(db.rows(&indexed("step_tasks")).await, ["run_id", "step_slug", "task_index"]);
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
