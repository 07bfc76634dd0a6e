//! `start_flow_with_states` and `get_run_with_states`.

use serde_json::Value;

use crate::harness::{Db, define};

#[tokio::test]
async fn a_run_is_shown_with_its_steps() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    let call = format!("select pgflow.get_run_with_states(run_id => '{}')", run.id);
    let shown: Value = serde_json::from_str(&db.one(&call).await).expect("JSON");
    let keys: Vec<_> = shown.as_object().expect("object").keys().collect();
    assert_eq!(keys, ["run", "steps"]);
    let row: Value = serde_json::from_str(&run.get("to_jsonb(runs)").await).expect("JSON");
    assert_eq!(shown["run"], row);
    for step in shown["steps"].as_array().expect("array") {
        let slug = step["step_slug"].as_str().expect("text");
        let row: Value =
            serde_json::from_str(&run.step(slug, "to_jsonb(step_states)").await).expect("JSON");
        assert_eq!(*step, row);
    }
    assert_eq!(shown["steps"].as_array().expect("array").len(), 2);
    db.check().await;
}

#[tokio::test]
async fn an_unknown_run_is_null() {
    let db = Db::new().await;
    let id = "00000000-0000-0000-0000-000000000001";
    assert_eq!(db.one(&format!("select pgflow.get_run_with_states('{id}')")).await, "NULL");
}

#[tokio::test]
async fn a_run_without_steps_has_an_empty_list() {
    let db = Db::with(&define("f", &[])).await;
    let run = db.start("f", "{}").await;
    let call = format!("select pgflow.get_run_with_states('{}')->'steps'", run.id);
    assert_eq!(db.one(&call).await, "[]");
    db.check().await;
}

#[tokio::test]
async fn starting_shows_what_was_started() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let id = "00000000-0000-4000-8000-000000000001";
    let call =
        format!("pgflow.start_flow_with_states(flow_slug => 'f', input => '1', run_id => '{id}')");
    let shown = db.one(&format!("select {call}")).await;
    assert_eq!(shown, db.one(&format!("select pgflow.get_run_with_states('{id}')")).await);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["run"]["run_id"], id);
    assert_eq!(shown["run"]["status"], "started");
    assert_eq!(shown["steps"].as_array().expect("array").len(), 2);
    let made = db.one("select pgflow.start_flow_with_states('f', '2')->'run'->>'status'").await;
    assert_eq!(made, "started");
    db.check().await;
}
