//! Which runs a call has ended: said once, by whoever ended them.

use crate::harness::{Db, define, lit};

/// Settles what was claimed of a flow, with a failure for runs whose input is 0, and returns what ended.
async fn settle(db: &Db) -> Vec<String> {
    db.run("drop table if exists held; create table held as select * from pgflow.claim_tasks(array['f'], 10)").await;
    again(db).await
}

async fn again(db: &Db) -> Vec<String> {
    let of = |results: &str, which: &str| {
        format!(
            "(select array_agg(run_id), array_agg(step_slug), array_agg(task_index), array_agg({results}), array_agg(attempt)
                from held where {which}) "
        )
    };
    let (done, failed) =
        (of("'1'::jsonb", "input -> 'run' <> '0'"), of("'boom'::text", "input -> 'run' = '0'"));
    let call = format!(
        "select outcome, flow_slug, input from {done} d(r, s, i, o, a), {failed} x(r, s, i, o, a),
           pgflow.settle_and_claim(d.r, d.s, d.i, d.o, d.a, x.r, x.s, x.i, x.o, x.a, null, null, null, 0)
          where kind = 'ended' order by 1"
    );
    db.rows(&call).await
}

#[tokio::test]
async fn a_settle_says_which_runs_it_ended() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b after a"])).await;
    for input in ["0", "1", "2"] {
        db.start("f", input).await;
    }
    assert_eq!(settle(&db).await, [r#"failed|f|"boom""#], "the others go on");
    assert_eq!(settle(&db).await, ["completed|f|NULL"; 2]);
    assert_eq!(again(&db).await, [""; 0], "not a second time");
}

#[tokio::test]
async fn a_sweep_says_which_runs_it_ended() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "1").await;
    let sweep = "select requeued, flow_slug, run_id, step_slug, input from pgflow.sweep_and_claim(30, array['f'], 1)";
    db.claim("f").await;
    for _ in 0..3 {
        run.stall("a", 0).await;
        assert_eq!(db.rows(sweep).await.len(), 2, "it comes back");
    }
    run.stall("a", 0).await;
    let error = "stalled: task 0 was lost by its worker 4 times";
    assert_eq!(
        db.rows(sweep).await,
        ["0|NULL|NULL|NULL|NULL".to_owned(), format!("NULL|f|{}|NULL|\"{error}\"", run.id)]
    );
    assert_eq!(db.rows(sweep).await, ["0|NULL|NULL|NULL|NULL"]);
}

/// As a step does that has recorded itself in its own transaction.
#[tokio::test]
async fn a_transaction_can_ask() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "1").await;
    db.claim("f").await;
    let id = lit(&run.id.to_string());
    let ended =
        format!("select flow_slug, status, error from pgflow.ended_runs(array[{id}::uuid])");
    let mut session = db.session().await;
    session.run("begin").await;
    assert_eq!(session.rows(&ended).await, [""; 0]);
    session.run(&format!("select pgflow.complete_task({id}, 'a', 0, '1')")).await;
    assert_eq!(session.rows(&ended).await, ["f|completed|NULL"]);
    session.run("commit").await;
    assert_eq!(session.rows(&ended).await, [""; 0]);
}
