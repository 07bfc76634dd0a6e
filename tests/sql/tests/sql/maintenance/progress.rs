//! `get_run_progress`.

use crate::harness::{Db, define};

#[tokio::test]
async fn each_step_says_how_far_it_is() {
    let steps = [
        "a",
        "m map after a; max_attempts => 9",
        "s; max_attempts => 1, when_exhausted => 'skip'",
        "f; max_attempts => 1",
        "z after m",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[1, 2, 3]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "again").await;
    db.claim("f").await;
    run.fail("s", 0, "no").await;
    run.fail("f", 0, "boom").await;
    let columns = "step_slug, step_type, status, initial_tasks, remaining_tasks, attempts, error_message, skip_reason,
        started_at is not null, ended_at is not null";
    let sql = format!("select {columns} from pgflow.get_run_progress('{}')", run.id);
    assert_eq!(
        db.rows(&sql).await,
        [
            "a|single|completed|1|0|1|NULL|NULL|t|t",
            "m|map|started|3|2|4|NULL|NULL|t|f",
            "s|single|skipped|1|NULL|1|no|handler_failed|t|t",
            "f|single|failed|1|1|1|boom|NULL|t|t",
            "z|single|created|1|NULL|0|NULL|NULL|f|f",
        ]
    );
}

#[tokio::test]
async fn the_attempts_of_a_wide_map_are_not_counted() {
    let db = Db::with(&define("f", &["m map"])).await;
    let start = "pgflow.start_flow('f', (select jsonb_agg(n) from generate_series(1, 1001) n))";
    let id = db.one(&format!("select run_id from {start}")).await;
    let sql = format!("select remaining_tasks, attempts from pgflow.get_run_progress('{id}')");
    assert_eq!(db.one(&sql).await, "1001|NULL");
}

#[tokio::test]
async fn an_unknown_run_has_no_steps() {
    let db = Db::new().await;
    assert_eq!(db.rows("select * from pgflow.get_run_progress(gen_random_uuid())").await, [""; 0]);
}
