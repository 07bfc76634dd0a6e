//! A wide map and small runs of the same flow share what is claimed.

use crate::harness::{Db, define};

/// A run of a flow in which a map is wide, and has just begun.
async fn with_wide_map(elements: u32) -> Db {
    let db = Db::with(&define("f", &["list", "each map after list", "last after each"])).await;
    let wide = db.start("f", "0").await;
    db.claim("f").await;
    let output = format!("(select to_jsonb(array_agg(n)) from generate_series(1, {elements}) n)");
    db.run(&format!("select pgflow.complete_task('{}', 'list', 0, {output})", wide.id)).await;
    db
}

async fn claim(db: &Db, quantity: u32, quotas: &str) -> Vec<String> {
    let call = format!("pgflow.claim_tasks(array['f'], {quantity}, null{quotas})");
    db.rows(&format!("select run_id || ' ' || step_slug from {call}")).await
}

/// How many claims it takes until one has this, of 40.
async fn claims_until(db: &Db, quantity: u32, quotas: &str, task: &str) -> usize {
    for nth in 1..=40 {
        if claim(db, quantity, quotas).await.iter().any(|row| row == task) {
            return nth;
        }
    }
    panic!("{task} is not among 40 claims of {quantity}");
}

/// Of claims for one task at a time a quarter goes to the map.
fn few(quantity: u32) -> usize {
    if quantity == 1 { 30 } else { 1 }
}

const QUOTAS: &str = ", array['f'], array['last'], array[100]";

#[tokio::test]
async fn a_small_run_does_not_wait_for_a_wide_map() {
    for (quantity, quotas) in [(20, ""), (1, ""), (20, QUOTAS), (1, QUOTAS)] {
        let db = with_wide_map(5_000).await;
        // Those that stand in turn.
        claim(&db, 16, quotas).await;
        claim(&db, 16, quotas).await;
        let small = db.start("f", "1").await;
        let settle = |step: &str, output: &str| {
            format!("select pgflow.complete_task('{}', '{step}', 0, '{output}')", small.id)
        };
        for (step, output) in [("list", "[7]"), ("each", "8"), ("last", "9")] {
            let nth = claims_until(&db, quantity, quotas, &format!("{} {step}", small.id)).await;
            assert!(nth <= few(quantity), "{step} came with claim {nth} of {quantity}");
            db.run(&settle(step, output)).await;
        }
        assert_eq!(small.status().await, "completed");
        db.check().await;
    }
}

#[tokio::test]
async fn a_newer_map_does_not_wait_for_an_older_one() {
    let db = Db::with(&define("f", &["m map"])).await;
    let elements =
        |n: u32| format!("(select to_jsonb(array_agg(n)) from generate_series(1, {n}) n)");
    db.run(&format!("select pgflow.start_flow('f', {})", elements(5_000))).await;
    claim(&db, 100, "").await;
    let newer = format!("select run_id from pgflow.start_flow('f', {})", elements(60));
    let newer = db.one(&newer).await;
    let mut got = 0;
    let mut claims = 0;
    while got < 60 {
        claims += 1;
        assert!(claims <= 10, "{got} of 60 tasks after {claims} claims");
        got += claim(&db, 50, "").await.iter().filter(|row| row.starts_with(&newer)).count();
    }
    db.check().await;
}

#[tokio::test]
async fn a_wide_map_goes_on_while_small_runs_keep_coming() {
    for (quantity, quotas) in [(20, ""), (1, ""), (20, QUOTAS), (1, QUOTAS)] {
        let db = with_wide_map(500).await;
        claim(&db, 16, quotas).await;
        claim(&db, 16, quotas).await;
        db.run(
            "select s.run_id from generate_series(1, 500) i, pgflow.start_flow('f', to_jsonb(i)) s",
        )
        .await;
        let mut of_map = 0;
        for _ in 0..200 / quantity {
            let rows = claim(&db, quantity, quotas).await;
            assert_eq!(rows.len(), quantity as usize);
            of_map += rows.iter().filter(|row| row.ends_with(" each")).count();
        }
        assert!((15..=100).contains(&of_map), "{of_map} of 200 tasks are of the map");
        db.check().await;
    }
}

#[tokio::test]
async fn a_wide_map_alone_gets_all() {
    let db = with_wide_map(500).await;
    assert_eq!(claim(&db, 300, "").await.len(), 300);
    assert_eq!(claim(&db, 100, QUOTAS).await.len(), 100);
    assert_eq!(claim(&db, 300, "").await.len(), 100);
    db.check().await;
}

/// Also when a run is taken up again, whose tasks are all queued at once.
#[tokio::test]
async fn a_wide_map_that_is_retried_does_not_stand_before_others() {
    let db = Db::with(&define("f", &["m map"])).await;
    let input = "(select to_jsonb(array_agg(n)) from generate_series(1, 1000) n)";
    let run = db.one(&format!("select run_id from pgflow.start_flow('f', {input})")).await;
    claim(&db, 1, "").await;
    // Whichever it was: one in four claims of a single task takes one of bulk.
    db.run(
        "select pgflow.fail_tasks(array[t.run_id], array['m'], array[t.task_index], array['no'], null, null, array[true])
           from pgflow.step_tasks t where t.status = 'started'",
    )
    .await;
    db.run(&format!("select pgflow.retry_run('{run}')")).await;
    claim(&db, 16, "").await;
    let small = db.start("f", "[1]").await;
    assert_eq!(claims_until(&db, 20, "", &format!("{} m", small.id)).await, 1);
    assert_eq!(db.one("select count(*) from pgmq.q_f").await, "1001");
    db.check().await;
}

/// Also when all its tasks were tried before, or are delayed, and are now due at once.
#[tokio::test]
async fn a_wide_map_that_was_delayed_does_not_stand_before_others() {
    let db = Db::with(&define("f", &["m map"])).await;
    let input = "(select to_jsonb(array_agg(n)) from generate_series(1, 3000) n)";
    let wide = db.one(&format!("select run_id from pgflow.start_flow('f', {input})")).await;
    assert_eq!(claim(&db, 3_000, "").await.len(), 3_000);
    let indexes = "array(select generate_series(0, 2999))";
    let all = |value: &str| format!("array_fill({value}, array[3000])");
    db.run(&format!(
        "select count(*) from pgflow.fail_tasks({}, {}, {indexes}, {}, null, {})",
        all(&format!("'{wide}'::uuid")),
        all("'m'::text"),
        all("'down'::text"),
        all("0"),
    ))
    .await;
    let small = db.start("f", "[1]").await;
    for quotas in ["", ", array['f'], array['other'], array[100]"] {
        let in_turn = "update pgmq.q_f set vt = clock_timestamp() - interval '1 minute'
                        where vt < now() - interval '1 year'";
        db.run(in_turn).await;
        let nth = claims_until(&db, 20, quotas, &format!("{} m", small.id)).await;
        assert!(nth <= 8, "it came with claim {nth}");
        let attempt = small.task("m", 0, "attempts_count").await;
        let task = format!("array['{}'::uuid], array['m'], array[0], array[{attempt}]", small.id);
        db.run(&format!("select pgflow.release_tasks({task})")).await;
    }
    assert_eq!(db.one("select count(*) from pgmq.q_f").await, "3001");
    db.check().await;
}
