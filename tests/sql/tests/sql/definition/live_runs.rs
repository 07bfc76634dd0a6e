//! Steps that are added while runs are under way: those keep the graph that they started with.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_step_behind_the_leaf_does_not_take_the_output_of_a_live_run() {
    for leaf in ["a", "a; required_input_pattern => '{}'"] {
        let db = Db::with(&define("f", &[leaf])).await;
        let run = db.start("f", "{}").await;
        db.run("select pgflow.add_step('f', 'b', array['a'])").await;
        run.finish("a", "7").await;
        assert_eq!(run.get("status, output").await, r#"completed|{"a": 7}"#);
        let leaves = format!("select step_slug, is_leaf from pgflow.get_run_steps('{}')", run.id);
        assert_eq!(db.rows(&leaves).await, ["a|t"], "clients put large outputs together by this");
        db.check().await;
        let next = db.start("f", "{}").await;
        next.finish("a", "7").await;
        next.finish("b", "8").await;
        assert_eq!(next.get("status, output").await, r#"completed|{"b": 8}"#);
        db.check().await;
    }
}

/// Also when the end is not reached by completing a step.
#[tokio::test]
async fn nor_when_the_last_step_is_skipped() {
    let db = Db::with(&define("f", &["a", "z; max_attempts => 1, when_exhausted => 'skip'"])).await;
    let run = db.start("f", "{}").await;
    db.run("select pgflow.add_step('f', 'b', array['a'])").await;
    run.finish("a", "7").await;
    run.fail("z", 0, "boom").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"a": 7}"#);
    db.check().await;
}

/// A map that a run does not have puts no limit on what its steps put out, of whatever type.
#[tokio::test]
async fn a_map_behind_a_step_means_nothing_to_a_live_run() {
    let db = Db::with(&define("f", &["a"])).await;
    let runs = [db.start("f", "{}").await, db.start("f", "{}").await];
    db.run("select pgflow.add_step('f', 'm', array['a'], step_type => 'map'); update pgflow.limits set max_fanout = 1000").await;
    runs[0].finish("a", "1").await;
    let long = format!("[{}]", vec!["1"; 1001].join(", "));
    runs[1].finish("a", long.as_str()).await;
    for run in &runs {
        assert_eq!(run.status().await, "completed");
    }
    db.check().await;
}

/// A client that defines a flow call by call, each in a transaction of its own, while somebody starts it.
#[tokio::test]
async fn a_flow_can_be_defined_in_several_transactions() {
    let db = Db::with("select pgflow.create_flow('f')").await;
    let empty = db.start("f", "{}").await;
    db.run("select pgflow.add_step('f', 'a')").await;
    let half = db.start("f", "{}").await;
    db.run("select pgflow.add_step('f', 'b', array['a'])").await;
    let whole = db.start("f", "{}").await;
    assert_eq!(empty.status().await, "completed");
    half.finish("a", "1").await;
    whole.finish("a", "1").await;
    whole.finish("b", "2").await;
    assert_eq!(half.get("output").await, r#"{"a": 1}"#);
    assert_eq!(whole.get("output").await, r#"{"b": 2}"#);
    db.check().await;
}
