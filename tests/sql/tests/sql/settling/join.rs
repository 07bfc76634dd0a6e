//! Steps with several dependencies.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_join_waits_for_the_last_dependency() {
    let db = Db::with(&define("f", &["a", "l after a", "r after a", "j after l r"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    assert_eq!(run.steps().await, ["a:completed", "l:started", "r:started", "j:created"]);
    run.finish("r", "2").await;
    assert_eq!(run.step("j", "status, remaining_deps").await, "created|1");
    run.finish("l", "3").await;
    assert_eq!(run.step("j", "status, remaining_deps").await, "started|0");
    run.finish("j", "4").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"j": 4}"#);
    db.check().await;
}

#[tokio::test]
async fn ten_parents_are_counted_one_by_one() {
    let names: Vec<_> = (0..10).map(|i| format!("p{i}")).collect();
    let mut steps: Vec<_> = names.iter().map(String::as_str).collect();
    let join = format!("j after {}", names.join(" "));
    steps.push(&join);
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    for (done, name) in names.iter().enumerate() {
        assert_eq!(run.step("j", "remaining_deps").await, (10 - done).to_string());
        run.finish(name, "1").await;
    }
    assert_eq!(run.step("j", "status").await, "started");
    db.check().await;
}

#[tokio::test]
async fn runs_of_one_flow_do_not_touch_each_other() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let (one, two) = (db.start("f", "1").await, db.start("f", "2").await);
    one.finish("a", "1").await;
    assert_eq!(one.steps().await, ["a:completed", "b:started"]);
    assert_eq!(two.steps().await, ["a:started", "b:created"]);
    assert_eq!(two.get("remaining_steps").await, "2");
    db.check().await;
}
