//! `claim_tasks`: several queues in one call, without waiting.

use crate::harness::{Db, define};

fn claim(queues: &str, quantity: u32) -> String {
    format!(
        "select flow_slug, step_slug, task_index from pgflow.claim_tasks({queues}, {quantity}) order by 1, 2, 3"
    )
}

#[tokio::test]
async fn one_call_serves_many_flows() {
    let db =
        Db::with(&(define("f", &["a"]) + &define("g", &["m map"]) + &define("h", &["a"]))).await;
    db.start("f", "1").await;
    db.start("g", "[1, 2]").await;
    let other = db.start("h", "1").await;
    assert_eq!(db.rows(&claim("array['f', 'g']", 10)).await, ["f|a|0", "g|m|0", "g|m|1"]);
    assert_eq!(other.tasks().await, ["a#0:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn no_more_than_asked_for() {
    let db = Db::with(&(define("f", &["m map"]) + &define("g", &["m map"]))).await;
    db.start("f", "[1, 2, 3]").await;
    db.start("g", "[1, 2, 3]").await;
    assert_eq!(db.rows(&claim("array['f', 'g']", 4)).await.len(), 4);
    assert_eq!(db.rows(&claim("array['f', 'g']", 4)).await.len(), 2);
    assert_eq!(db.rows(&claim("array['f', 'g']", 4)).await.len(), 0);
    db.check().await;
}

#[tokio::test]
async fn nothing_to_do_is_said() {
    let db = Db::with(&define("f", &["a"])).await;
    for queues in ["array['f']", "'{}'", "null"] {
        assert_eq!(db.rows(&claim(queues, 10)).await, [""; 0], "{queues}");
    }
    assert_eq!(db.rows(&claim("array['f']", 0)).await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn hidden_messages_are_left_alone() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "1").await;
    db.run("select pgmq.set_vt('f', msg_id, 60) from pgmq.q_f").await;
    assert_eq!(db.rows(&claim("array['f']", 10)).await, [""; 0]);
    assert_eq!(run.tasks().await, ["a#0:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn one_full_queue_does_not_starve_the_others_for_ever() {
    let db = Db::with(&(define("f", &["m map"]) + &define("g", &["a"]))).await;
    db.start("f", "[1, 2, 3, 4, 5, 6]").await;
    db.start("g", "1").await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(db.rows(&claim("array['f', 'g']", 2)).await);
    }
    assert!(seen.contains(&"g|a|0".to_owned()), "{seen:?}");
    assert_eq!(seen.len(), 7);
    db.check().await;
}

#[tokio::test]
async fn a_flow_named_twice_is_served_once() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "1").await;
    assert_eq!(db.rows(&claim("array['f', 'f']", 5)).await, ["f|a|0"]);
    db.check().await;
}
