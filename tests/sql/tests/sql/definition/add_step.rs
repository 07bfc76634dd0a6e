//! `add_step`.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_step_without_options_inherits_everything() {
    let db = Db::with(&define("f", &[])).await;
    let step = "step_slug, step_type, step_index, deps_count, opt_max_attempts, opt_base_delay,
        opt_timeout, opt_start_delay, required_input_pattern, forbidden_input_pattern,
        when_unmet, when_exhausted";
    let expected = "a|single|0|0|NULL|NULL|NULL|NULL|NULL|NULL|skip|fail";
    assert_eq!(db.one(&format!("select {step} from pgflow.add_step('f', 'a')")).await, expected);
    assert_eq!(db.one(&format!("select {step} from pgflow.steps")).await, expected);
    db.check().await;
}

#[tokio::test]
async fn every_option_has_a_name() {
    let db = Db::with(&define("f", &["a"])).await;
    let step = db
        .one(
            "select step_index, deps_count, opt_max_attempts, opt_base_delay, opt_timeout, opt_start_delay,
                step_type, required_input_pattern, forbidden_input_pattern, when_unmet, when_exhausted
             from pgflow.add_step(flow_slug => 'f', step_slug => 'b', deps_slugs => array['a'],
                max_attempts => 7, base_delay => 8, timeout => 9, start_delay => 10, step_type => 'map',
                required_input_pattern => '{\"a\": []}', forbidden_input_pattern => '{\"a\": [1]}',
                when_unmet => 'skip-cascade', when_exhausted => 'skip')",
        )
        .await;
    assert_eq!(step, r#"1|1|7|8|9|10|map|{"a": []}|{"a": [1]}|skip-cascade|skip"#);
    db.check().await;
}

#[tokio::test]
async fn indexes_count_up_per_flow() {
    let script = define("f", &["a", "b", "c after a b"]) + &define("g", &["z"]);
    let db = Db::with(&script).await;
    let rows =
        db.rows("select flow_slug, step_slug, step_index from pgflow.steps order by 1, 3").await;
    assert_eq!(rows, ["f|a|0", "f|b|1", "f|c|2", "g|z|0"]);
    db.check().await;
}

#[tokio::test]
async fn dependencies_become_edges() {
    let db = Db::with(&define("f", &["a", "b", "c after b a"])).await;
    let edges = db.rows("select dep_slug, step_slug from pgflow.deps order by 1").await;
    assert_eq!(edges, ["a|c", "b|c"]);
    assert_eq!(db.one("select deps_count from pgflow.steps where step_slug = 'c'").await, "2");
    db.check().await;
}

#[tokio::test]
async fn null_means_no_dependencies_and_a_single_step() {
    let db = Db::with(&define("f", &[])).await;
    let call = "pgflow.add_step('f', 'a', deps_slugs => null, step_type => null)";
    assert_eq!(db.one(&format!("select deps_count, step_type from {call}")).await, "0|single");
    let call = "pgflow.add_step('f', 'b', deps_slugs => '{}')";
    assert_eq!(db.one(&format!("select deps_count, step_index from {call}")).await, "0|1");
    assert_eq!(db.one("select count(*) from pgflow.deps").await, "0");
    db.check().await;
}

#[tokio::test]
async fn an_existing_step_is_returned_unchanged() {
    let db = Db::with(&define("f", &["a", "b", "c after a b; timeout => 5"])).await;
    let before = db.one("select to_jsonb(s) from pgflow.steps s where step_slug = 'c'").await;
    let again = "pgflow.add_step('f', 'c', array['b', 'a'], timeout => 99, when_unmet => 'fail')";
    assert_eq!(db.one(&format!("select to_jsonb(s) from {again} s")).await, before);
    assert_eq!(db.one("select count(*) from pgflow.steps").await, "3");
    assert_eq!(db.one("select count(*) from pgflow.deps").await, "2");
    db.check().await;
}

#[tokio::test]
async fn other_dependencies_for_an_existing_step_are_refused() {
    let db = Db::with(&define("f", &["a", "b", "c after a"])).await;
    for deps in ["array['b']", "array['a', 'b']", "'{}'", "null"] {
        let failure = db.error(&format!("select pgflow.add_step('f', 'c', {deps})")).await;
        assert!(failure.message.contains('c'), "{failure}");
    }
    let edges = db.rows("select dep_slug, step_slug from pgflow.deps").await;
    assert_eq!(edges, ["a|c"]);
    db.check().await;
}

#[tokio::test]
async fn a_live_run_knows_nothing_of_a_later_step() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run("select pgflow.add_step('f', 'b', array['a'])").await;
    assert_eq!(run.steps().await, ["a:started"]);
    run.finish("a", "1").await;
    assert_eq!(run.status().await, "completed");
    let later = db.start("f", "{}").await;
    assert_eq!(later.steps().await, ["a:started", "b:created"]);
    db.check().await;
}
