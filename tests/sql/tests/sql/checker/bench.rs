//! A database with a bit of everything, to be broken in transactions that roll back.

use crate::harness::{Db, Session, define};

/// What a break does and which invariant it must set off.
pub(super) type Break = (&'static str, &'static str);

/// One run of each kind: `live` (in the middle), `done`, `failed`, `cancelled`.
pub(super) async fn database() -> Db {
    let steps = ["a", "m map after a", "e map after a", "z after m e; max_attempts => 1"];
    let db = Db::with(&define("f", &steps)).await;
    for name in ["live", "done", "failed", "cancelled"] {
        let input = format!("{{\"name\": \"{name}\"}}");
        let run = db.start("f", &input).await;
        run.finish("a", "[10, 20]").await;
        db.claim("f").await;
        for (step, index) in [("m", 1), ("m", 0), ("e", 0), ("e", 1)] {
            if name != "live" || index == 0 {
                run.complete(step, index, format!("\"{step}{index}\"").as_str()).await;
            }
        }
        match name {
            "done" => run.finish("z", "1").await,
            "failed" => run.exhaust("z", "boom").await,
            "cancelled" => db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await,
            _ => {}
        }
    }
    db.check().await;
    db
}

/// As [`database`], with a second flow in which steps are skipped, stalled and retried, and runs that record
/// nothing; also workers, versions and a retried run.
pub(super) async fn everything() -> Db {
    let db = database().await;
    let steps = [
        "r map; timeout => 1",
        "s; max_attempts => 1, when_exhausted => 'skip'",
        r#"c; required_input_pattern => '{"never": 1}', when_unmet => 'skip-cascade'"#,
        "d after c",
        "w after s; max_attempts => 1",
        "t; max_attempts => 1",
    ];
    db.run(&define("g", &steps)).await;
    db.run(&define("h", &[r#"a; required_input_pattern => '{"never": 1}', when_unmet => 'fail'"#]))
        .await;
    db.run(&define("k", &["a", "m map after a"])).await;
    db.run("select pgflow.add_flow_version('f', 2, 'g'); select pgflow.track_worker_function('work');
            insert into pgflow.workers (worker_id, queue_name, function_name)
              values ('00000000-0000-4000-8000-000000000001', 'f', 'work'), (gen_random_uuid(), 'idle', 'work')")
        .await;
    db.run("update pgflow.step_tasks set last_worker_id = '00000000-0000-4000-8000-000000000001' where step_slug = 'a'").await;
    for name in ["live", "stalled", "retried", "quiet"] {
        db.run(&format!("select pgflow.configure_flow('g', record_events => {})", name != "quiet"))
            .await;
        let run = db.start("g", "[1, 2, 3]").await;
        db.claim("g").await;
        run.complete("r", 0, "10").await;
        run.fail("s", 0, "gone").await;
        if name == "stalled" {
            db.run(&format!("update pgflow.step_tasks set requeued_count = 3, last_requeued_at = queued_at where run_id = '{}' and step_slug = 'r' and task_index = 1", run.id)).await;
            run.stall("r", 1).await;
            db.run("select pgflow.requeue_stalled_tasks()").await;
        } else if name == "retried" {
            run.fail("t", 0, "boom").await;
            db.run(&format!("select pgflow.retry_run('{}')", run.id)).await;
            db.claim("g").await;
            run.fail("t", 0, "boom again").await;
        }
    }
    db.start("h", "[]").await;
    let run = db.start("k", "[]").await;
    db.claim("k").await;
    run.complete("a", 0, "{}").await;
    db.start("k", "[]").await.finish("a", "[]").await;
    db.check().await;
    db
}

/// The break with the ids of the runs in the place of `:live` and the like.
async fn with_ids(session: &mut Session, sql: &str) -> String {
    let mut sql = sql.to_owned();
    for name in ["live", "done", "failed", "cancelled"] {
        let id = session
            .one(&format!("select run_id from pgflow.runs where input->>'name' = '{name}'"))
            .await;
        sql = sql.replace(&format!(":{name}"), &format!("'{id}'"));
    }
    sql
}

/// Each break of [`database`] is reported, and gone after the rollback.
pub(super) async fn each_is_reported(breaks: &[Break]) {
    let db = database().await;
    let mut session = db.session().await;
    for (invariant, sql) in breaks {
        let sql = with_ids(&mut session, sql).await;
        is_reported(&mut session, invariant, &sql).await;
    }
    db.check().await;
}

/// The same for a database of one's own.
pub(super) async fn each_is_reported_on(db: &Db, breaks: &[Break]) {
    let mut session = db.session().await;
    for (invariant, sql) in breaks {
        is_reported(&mut session, invariant, sql).await;
    }
    db.check().await;
}

async fn is_reported(session: &mut Session, invariant: &str, sql: &str) {
    session.run(&format!("begin; {sql}")).await;
    let reported = session.rows("select distinct invariant from pgflow.check()").await;
    assert!(
        reported.iter().any(|name| name == invariant),
        "{invariant} is not in {reported:?} after {sql}"
    );
    session.run("rollback").await;
}
