//! `set_flow_options`, `set_step_options`: what a generated migration changes about flows that are there.

use crate::harness::{Db, define};

const FLOW: &str = "opt_max_attempts, opt_base_delay, opt_timeout";

#[tokio::test]
async fn a_flow_gets_these_options_and_defaults_for_the_rest() {
    let db = Db::with("select pgflow.create_flow('f', 9, 9, 9)").await;
    let set = |options: &str| format!("select {FLOW} from pgflow.set_flow_options('f'{options})");
    assert_eq!(db.one(&set(", max_attempts => 7")).await, "7|5|60");
    assert_eq!(db.one(&set(", base_delay => 1, timeout => 2")).await, "3|1|2");
    assert_eq!(db.one(&set("")).await, "3|5|60");
    assert_eq!(db.one(&format!("select {FLOW} from pgflow.flows")).await, "3|5|60");
    let failure = db.error(&set(", timeout => 0")).await;
    assert_eq!(failure.constraint.as_deref(), Some("opt_timeout_is_positive"));
}

#[tokio::test]
async fn a_step_gets_these_options_and_its_flows_for_the_rest() {
    let db = Db::with(&define("f", &["a; max_attempts => 9, start_delay => 9", "b; timeout => 9"]))
        .await;
    db.run(&define("g", &["a; timeout => 8"])).await;
    let columns = format!("{FLOW}, opt_start_delay, opt_wait_timeout");
    let set =
        |options: &str| format!("select {columns} from pgflow.set_step_options('f', 'a'{options})");
    assert_eq!(db.one(&set(", base_delay => 4, start_delay => 3")).await, "NULL|4|NULL|3|NULL");
    let options = ", max_attempts => 2, timeout => 6, wait_timeout => 5";
    assert_eq!(db.one(&set(options)).await, "2|NULL|6|NULL|5");
    let others = "select opt_timeout from pgflow.steps where (flow_slug, step_slug) <> ('f', 'a') order by 1";
    assert_eq!(db.rows(others).await, ["8", "9"]);
    let failure = db.error(&set(", start_delay => -1")).await;
    assert_eq!(failure.constraint.as_deref(), Some("opt_start_delay_is_nonnegative"));
    let failure = db.error(&set(", wait_timeout => 0")).await;
    assert_eq!(failure.constraint.as_deref(), Some("opt_wait_timeout_is_positive"));
}

#[tokio::test]
async fn runs_in_flight_get_them_too() {
    let db = Db::with(&define("f", &["a", "b; max_attempts => 9"])).await;
    let run = db.start("f", "{}").await;
    db.run(
        "select pgflow.set_flow_options('f', max_attempts => 1, base_delay => 0, timeout => 100)",
    )
    .await;
    db.run("select pgflow.set_step_options('f', 'b', timeout => 7)").await;
    let claim = "select pgflow.claim_tasks(array['f'], 9)";
    assert_eq!(db.hides("f", claim).await, ["a:102", "b:9"]);
    assert_eq!(run.fail("b", 0, "boom").await, ["failed"], "the flow's attempts count for b now");
    db.check().await;
}

#[tokio::test]
async fn what_is_not_there_gets_none() {
    let db = Db::with(&define("f", &["a"])).await;
    let failure = db.error("select pgflow.set_flow_options('g')").await;
    assert_eq!(failure.to_string(), "P0002 There is no flow \"g\"");
    let failure = db.error("select pgflow.set_step_options('f', 'b')").await;
    assert_eq!(failure.to_string(), "P0002 There is no step \"b\" in flow \"f\"");
}
