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

/// Replaces `:live` and the like with the ids of the runs.
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

/// Each break is reported, and gone after the rollback.
pub(super) async fn each_is_reported(breaks: &[Break]) {
    let db = database().await;
    let mut session = db.session().await;
    for (invariant, sql) in breaks {
        let sql = with_ids(&mut session, sql).await;
        session.run(&format!("begin; {sql}")).await;
        let reported = session.rows("select distinct invariant from pgflow.check()").await;
        assert!(
            reported.iter().any(|name| name == invariant),
            "{invariant} is not in {reported:?} after {sql}"
        );
        session.run("rollback").await;
    }
    db.check().await;
}
