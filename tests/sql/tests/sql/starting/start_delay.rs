//! `start_delay`: the step starts, its messages wait.

use crate::harness::{Db, Task, define};

#[tokio::test]
async fn only_the_messages_of_a_delayed_step_wait() {
    let db = Db::with(&define("f", &["a", "b; start_delay => 60"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:started", "b:started"]);
    let wait = "select message->>'step_slug', vt > clock_timestamp() + interval '50 s',
        vt < clock_timestamp() + interval '61 s' from pgmq.q_f order by 1";
    assert_eq!(db.rows(wait).await, ["a|f|t", "b|t|t"]);
    let names: Vec<_> = db.claim("f").await.iter().map(Task::name).collect();
    assert_eq!(names, ["a#0"]);
    db.wake("f").await;
    let names: Vec<_> = db.claim("f").await.iter().map(Task::name).collect();
    assert_eq!(names, ["b#0"]);
    db.check().await;
}

#[tokio::test]
async fn a_dependent_step_waits_from_the_moment_it_is_ready() {
    let db = Db::with(&define("f", &["a", "m map after a; start_delay => 60"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[1, 2]").await;
    assert_eq!(run.step("m", "status, remaining_tasks").await, "started|2");
    assert_eq!(db.claim("f").await.len(), 0);
    let late = "select count(*) from pgmq.q_f where vt > clock_timestamp() + interval '50 s'";
    assert_eq!(db.one(late).await, "2");
    db.check().await;
}
