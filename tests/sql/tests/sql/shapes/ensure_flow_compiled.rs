//! `ensure_flow_compiled`.

use serde_json::{Value, json};

use crate::harness::{Db, lit};

fn shape(slugs: &[&str]) -> Value {
    let steps = slugs.iter().map(|slug| {
        json!({"slug": slug, "stepType": "single", "dependencies": [], "whenUnmet": "skip",
               "whenExhausted": "fail", "requiredInputPattern": {"defined": false},
               "forbiddenInputPattern": {"defined": false}})
    });
    json!({"steps": steps.collect::<Vec<_>>()})
}

async fn ensure(db: &Db, shape: &Value, loss: &str) -> Value {
    let arguments = format!("flow_slug => 'f', shape => {}{loss}", lit(&shape.to_string()));
    let text = db.one(&format!("select pgflow.ensure_flow_compiled({arguments})")).await;
    serde_json::from_str(&text).expect("JSON")
}

async fn slugs(db: &Db) -> Vec<String> {
    db.rows("select step_slug from pgflow.steps where flow_slug = 'f' order by step_index").await
}

#[tokio::test]
async fn compiled_once_and_verified_after_that() {
    let db = Db::new().await;
    let wanted = shape(&["a", "b"]);
    assert_eq!(ensure(&db, &wanted, "").await, json!({"status": "compiled", "differences": []}));
    assert_eq!(slugs(&db).await, ["a", "b"]);
    assert_eq!(ensure(&db, &wanted, "").await, json!({"status": "verified", "differences": []}));
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    assert_eq!(ensure(&db, &wanted, ", allow_data_loss => true").await["status"], "verified");
    assert_eq!(run.status().await, "started", "a verified flow keeps its runs");
    db.check().await;
}

#[tokio::test]
async fn a_mismatch_changes_nothing() {
    let db = Db::new().await;
    ensure(&db, &shape(&["a"]), "").await;
    let run = db.start("f", "{}").await;
    for loss in ["", ", allow_data_loss => false", ", allow_data_loss => null"] {
        let answer = ensure(&db, &shape(&["b"]), loss).await;
        let expected = json!({"status": "mismatch", "differences": ["Step at index 0: slug differs 'b' vs 'a'"]});
        assert_eq!(answer, expected);
    }
    assert_eq!(slugs(&db).await, ["a"]);
    assert_eq!(run.status().await, "started");
    db.check().await;
}

#[tokio::test]
async fn with_data_loss_the_flow_is_made_anew() {
    let db = Db::new().await;
    ensure(&db, &shape(&["a"]), "").await;
    db.start("f", "{}").await;
    let answer = ensure(&db, &shape(&["b", "c"]), ", allow_data_loss => true").await;
    assert_eq!(answer["status"], "recompiled");
    assert_eq!(answer["differences"][0], "Step count differs: 2 vs 1");
    assert_eq!(slugs(&db).await, ["b", "c"]);
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn options_make_no_mismatch() {
    let db = Db::new().await;
    ensure(&db, &shape(&["a"]), "").await;
    let mut other = shape(&["a"]);
    other["options"] = json!({"maxAttempts": 9});
    other["steps"][0]["options"] = json!({"timeout": 1});
    assert_eq!(ensure(&db, &other, "").await["status"], "verified");
    db.check().await;
}

#[tokio::test]
async fn it_waits_for_the_advisory_lock_of_the_flow() {
    let db = Db::new().await;
    let mut holder = db.session().await;
    holder.run("begin; select pg_advisory_xact_lock(1, hashtext('f'))").await;
    let mut other = db.session().await;
    other.run("set lock_timeout = '300ms'").await;
    let call =
        |flow: &str| format!(r#"select pgflow.ensure_flow_compiled('{flow}', '{{"steps": []}}')"#);
    assert_eq!(other.error(&call("f")).await.code, "55P03");
    other.run(&call("g")).await;
    holder.run("rollback").await;
    other.run(&call("f")).await;
    db.check().await;
}

/// A shape that got lost on the way is no order to delete everything.
#[tokio::test]
async fn what_is_no_shape_is_refused() {
    let db = Db::new().await;
    ensure(&db, &shape(&["a"]), "").await;
    let run = db.start("f", "{}").await;
    for lost in
        ["null", "'null'", "'{}'", "'[]'", "'7'", "'{\"steps\": null}'", "'{\"steps\": {}}'"]
    {
        for flow in ["f", "g"] {
            let failure = db
                .error(&format!("select pgflow.ensure_flow_compiled('{flow}', {lost}, true)"))
                .await;
            assert_eq!(failure.code, "22023", "{lost}: {failure}");
        }
    }
    let none = r#"select pgflow.ensure_flow_compiled('f', '{"steps": []}', true)"#;
    assert_eq!(db.error(none).await.code, "22023");
    assert_eq!(run.status().await, "started");
    assert_eq!(db.rows("select flow_slug from pgflow.flows").await, ["f"]);
    db.check().await;
}
