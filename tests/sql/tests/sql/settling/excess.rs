//! Outputs that are too large together: of a map, or of a run's leaves. What puts them out ends.

use crate::harness::{Db, define};

/// An SQL expression for a text of so many bytes, which its table keeps in few.
fn text(bytes: u32) -> String {
    format!("to_jsonb(repeat('x', {bytes} - 2))")
}

/// Completes tasks of a run, each with as many bytes, in one call. Outcomes come as they are.
async fn complete(db: &Db, run: &str, tasks: &[(&str, u32)], bytes: u32) -> Vec<String> {
    let list =
        |item: fn(&(&str, u32)) -> String| tasks.iter().map(item).collect::<Vec<_>>().join(", ");
    let call = format!(
        "select outcome from pgflow.complete_tasks(
           (select array_agg('{run}'::uuid) from generate_series(1, {0})), array[{1}], array[{2}],
           (select array_agg({3}) from generate_series(1, {0})))",
        tasks.len(),
        list(|(step, _)| format!("'{step}'")),
        list(|(_, index)| index.to_string()),
        text(bytes),
    );
    db.rows(&call).await
}

/// A run of a flow whose outputs may have a megabyte together, with all first tasks claimed.
async fn started(db: &Db) -> String {
    db.run("update pgflow.limits set max_output_bytes = 1048576").await;
    let elements = "(select jsonb_agg(n) from generate_series(0, 2) n)";
    let run = db.one(&format!("select run_id from pgflow.start_flow('f', {elements})")).await;
    db.claim("f").await;
    run
}

async fn steps(db: &Db) -> Vec<String> {
    let steps = "select step_slug || ':' || s.status from pgflow.step_states s join pgflow.steps d
        using (flow_slug, step_slug) order by run_id, step_index";
    db.rows(steps).await
}

async fn errors(db: &Db) -> Vec<String> {
    db.rows("select error_message from pgflow.step_states where error_message is not null").await
}

const OF_MAP: &str =
    "Output too large: the outputs of step m together have more than 1048576 bytes";
const OF_RUN: &str =
    "Output too large: with that of step n the run puts out more than 1048576 bytes";

#[tokio::test]
async fn a_map_that_puts_out_too_much_fails_its_run() {
    let db = Db::with(&define("f", &["m map", "after after m"])).await;
    let run = started(&db).await;
    assert_eq!(complete(&db, &run, &[("m", 0), ("m", 1)], 400_000).await, ["applied"; 2]);
    assert_eq!(complete(&db, &run, &[("m", 2)], 400_000).await, ["applied"]);
    assert_eq!(steps(&db).await, ["m:failed", "after:created"]);
    assert_eq!(db.rows("select status from pgflow.runs").await, ["failed"]);
    assert_eq!(errors(&db).await, [OF_MAP]);
    assert_eq!(db.rows("select distinct status from pgflow.step_tasks").await, ["completed"]);
    assert_eq!(db.queue("f").await.len(), 0);
    db.check().await;
}

#[tokio::test]
async fn what_just_fits_goes_on() {
    let db = Db::with(&define("f", &["m map", "after after m"])).await;
    let run = started(&db).await;
    let all = [("m", 0), ("m", 1), ("m", 2)];
    // Inside, a text takes some bytes more than written out.
    complete(&db, &run, &all, 1_048_576 / 3 - 16).await;
    assert_eq!(steps(&db).await, ["m:completed", "after:started"]);
    assert_eq!(db.claim("f").await.len(), 1);
    db.check().await;
}

#[tokio::test]
async fn such_a_map_is_skipped_where_that_is_asked_for() {
    let db = Db::with(&define("f", &["m map; when_exhausted => 'skip'", "after after m"])).await;
    let run = started(&db).await;
    complete(&db, &run, &[("m", 0), ("m", 1), ("m", 2)], 400_000).await;
    assert_eq!(steps(&db).await, ["m:skipped", "after:started"]);
    assert_eq!(errors(&db).await, [OF_MAP]);
    db.check().await;
}

#[tokio::test]
async fn other_runs_of_the_batch_are_not_touched() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = started(&db).await;
    complete(&db, &run, &[("m", 0), ("m", 1)], 400_000).await;
    let other = started(&db).await;
    complete(&db, &other, &[("m", 0), ("m", 1)], 100).await;
    let both = format!(
        "select outcome from pgflow.complete_tasks(array['{run}', '{other}']::uuid[], array['m', 'm'], array[2, 2],
           array[{}, '1'])",
        text(400_000)
    );
    assert_eq!(db.rows(&both).await, ["applied"; 2]);
    let runs = "select status from pgflow.runs order by run_id";
    assert_eq!(db.rows(runs).await, ["failed", "completed"]);
    db.check().await;
}

#[tokio::test]
async fn leaves_count_together() {
    let db = Db::with(&define("f", &["m map", "n map", "l"])).await;
    let run = started(&db).await;
    complete(&db, &run, &[("m", 0), ("m", 1), ("m", 2)], 200_000).await;
    complete(&db, &run, &[("n", 0), ("n", 1)], 200_000).await;
    assert_eq!(steps(&db).await, ["m:completed", "n:started", "l:started"]);
    complete(&db, &run, &[("n", 2)], 200_000).await;
    assert_eq!(steps(&db).await, ["m:completed", "n:failed", "l:started"]);
    assert_eq!(errors(&db).await, [OF_RUN]);
    assert_eq!(db.rows("select status from pgflow.runs").await, ["failed"]);
    assert_eq!(db.queue("f").await.len(), 0);
    db.check().await;
}

#[tokio::test]
async fn the_first_in_step_order_is_kept_when_two_end_at_once() {
    let db = Db::with(&define("f", &["m map", "n map; when_exhausted => 'skip'"])).await;
    let run = started(&db).await;
    let all = [("n", 0), ("n", 1), ("n", 2), ("m", 0), ("m", 1), ("m", 2)];
    assert_eq!(complete(&db, &run, &all, 200_000).await, ["applied"; 6]);
    assert_eq!(steps(&db).await, ["m:completed", "n:skipped"]);
    let output =
        "select status, (select array_agg(k) from jsonb_object_keys(output) k) from pgflow.runs";
    assert_eq!(db.rows(output).await, ["completed|{m}"]);
    db.check().await;
}

#[tokio::test]
async fn single_leaves_count_too() {
    let db = Db::with(&define("f", &["a", "b", "n"])).await;
    db.run("update pgflow.limits set max_payload_bytes = 500000").await;
    let run = started(&db).await;
    complete(&db, &run, &[("a", 0), ("b", 0)], 400_000).await;
    assert_eq!(complete(&db, &run, &[("n", 0)], 400_000).await, ["applied"]);
    assert_eq!(steps(&db).await, ["a:completed", "b:completed", "n:failed"]);
    assert_eq!(errors(&db).await, [OF_RUN]);
    db.check().await;
}

#[tokio::test]
async fn what_another_step_takes_is_no_leaf() {
    let db = Db::with(&define("f", &["m map", "n map", "after after m n"])).await;
    let run = started(&db).await;
    complete(&db, &run, &[("m", 0), ("m", 1), ("m", 2)], 300_000).await;
    complete(&db, &run, &[("n", 0), ("n", 1), ("n", 2)], 300_000).await;
    assert_eq!(steps(&db).await, ["m:completed", "n:completed", "after:started"]);
    db.check().await;
}

#[tokio::test]
async fn taken_up_again_it_ends_again_until_the_limit_is_higher() {
    let db = Db::with(&define("f", &["m map", "n map"])).await;
    let run = started(&db).await;
    complete(&db, &run, &[("m", 0), ("m", 1), ("m", 2)], 200_000).await;
    complete(&db, &run, &[("n", 0), ("n", 1), ("n", 2)], 200_000).await;
    let retry = format!("select status from pgflow.retry_run('{run}')");
    assert_eq!(db.one(&retry).await, "failed");
    assert_eq!(errors(&db).await, [OF_RUN]);
    db.check().await;
    db.run("update pgflow.limits set max_output_bytes = 2000000").await;
    assert_eq!(db.one(&retry).await, "completed");
    assert_eq!(errors(&db).await, Vec::<String>::new());
    db.check().await;
}

/// The limits as they are: more than one JSON value holds.
#[tokio::test]
async fn nothing_that_the_limits_allow_stops_a_settle() {
    let db = Db::with(&define("f", &["m map", "n map"])).await;
    let run = db.start("f", "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]").await.id.to_string();
    db.claim("f").await;
    for step in ["m", "n"] {
        // 17 tasks each; as if they had put out as much as fits.
        let tasks: Vec<_> = (0..16).map(|index| (step, index)).collect();
        complete(&db, &run, &tasks, 10).await;
    }
    let bytes = "update pgflow.step_tasks set output = to_jsonb(repeat('x', 9000000)) where status = 'completed'";
    db.run(bytes).await;
    assert_eq!(complete(&db, &run, &[("m", 16)], 4_000_000).await, ["applied"]);
    assert_eq!(complete(&db, &run, &[("n", 16)], 4_000_000).await, ["applied"]);
    assert_eq!(steps(&db).await, ["m:completed", "n:failed"]);
    assert_eq!(db.rows("select status from pgflow.runs").await, ["failed"]);
}

/// The outputs of a step's dependencies fit a JSON value each, and not together.
#[tokio::test]
async fn a_condition_on_more_than_one_value_holds_is_decided() {
    let condition = "c after m n a; required_input_pattern => '{\"m\": [\"y\"], \"n\": [\"x\"]}'";
    let db = Db::with(&define("f", &["m map", "n map", "a", condition])).await;
    let run = db.start("f", "[1]").await;
    db.claim("f").await;
    for step in ["m", "n"] {
        run.complete(step, 0, "1").await;
    }
    db.run("update pgflow.step_states set output = (select to_jsonb(array_agg(x)) from (
              select 'x' as x union all select 'y' union all
              select repeat(md5(n::text), 30000) from generate_series(1, 150) n) x) where step_slug in ('m', 'n')")
        .await;
    assert_eq!(run.complete("a", 0, "1").await, ["completed"]);
    assert_eq!(run.step("c", "status").await, "started");
}
