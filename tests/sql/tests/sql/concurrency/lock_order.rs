//! Who takes locks against the order that others keep does not wait for them.

use crate::harness::{Db, Run, Session, Waiting, define};

const MAP: &str = "select from pgflow.step_states where step_slug = 'm'";

/// A run that failed in its first step, with a map step and a task of it that nobody ended.
async fn failed(db: &Db) -> Run<'_> {
    db.run(&define("f", &["a; max_attempts => 1", "m map; max_attempts => 1"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    run
}

async fn holding(db: &Db, sql: &str) -> Session {
    let mut session = db.session().await;
    session.run(&format!("begin; {sql}")).await;
    session
}

/// Nothing may be waited for. Not a `lock_timeout`: pruning would take that as its own.
async fn impatient(db: &Db) -> Session {
    let mut session = db.session().await;
    session.run("set statement_timeout = '5s'").await;
    session
}

#[tokio::test]
async fn pruning_passes_over_a_run_of_which_somebody_holds_a_part() {
    let leftover = "with m as (delete from pgmq.a_f where msg_id = 1 returning msg_id, message)
        insert into pgmq.q_f (msg_id, vt, message) overriding system value select msg_id, now(), message from m";
    for part in [
        "select from pgflow.runs",
        MAP,
        "select from pgflow.step_tasks where status = 'started'",
        "select from pgmq.q_f",
    ] {
        let db = Db::new().await;
        let run = failed(&db).await;
        db.run(leftover).await;
        db.start("f", "[]").await.finish("a", "1").await;
        let filter = if part.contains("pgflow") {
            format!("run_id = '{}'", run.id)
        } else {
            "true".to_owned()
        };
        let word = if part.contains("where") { "and" } else { "where" };
        let mut holder = holding(&db, &format!("{part} {word} {filter} for update")).await;
        let prune = "select runs from pgflow.prune_data_older_than(interval '0', null)";
        let mut pruner = impatient(&db).await;
        assert_eq!(pruner.one(prune).await, "1", "{part}");
        assert_eq!(run.status().await, "failed");
        holder.run("commit").await;
        assert_eq!(pruner.one(prune).await, "1", "{part}");
        assert_eq!(db.one("select count(*) from pgflow.step_tasks").await, "0");
        db.check().await;
    }
}

#[tokio::test]
async fn pruning_passes_over_an_archive_that_another_one_prunes() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "1").await.finish("a", "1").await;
    let mut holder = holding(&db, "select from pgmq.a_f for update").await;
    let prune =
        "select runs, archived_messages from pgflow.prune_data_older_than(interval '0', null)";
    let mut pruner = impatient(&db).await;
    assert_eq!(pruner.one(prune).await, "1|0");
    holder.run("commit").await;
    assert_eq!(pruner.one(prune).await, "0|1");
}

/// A retry may be about to open the map step: whoever settles tasks of it takes its lock, and first.
#[tokio::test]
async fn late_results_lock_a_map_step_that_is_over_before_its_run() {
    for settle in [
        "complete_tasks(k, k_steps, k_indexes, array['1'::jsonb, '2'])",
        "fail_tasks(k, k_steps, k_indexes, array['late', 'later'])",
        "settle_and_claim(k, k_steps, k_indexes, array['1'::jsonb, '2'], null,
            k, k_steps, k_indexes, array['late', 'later'], null, null, null, null, 0)",
    ] {
        let db = Db::with(&define("f", &["m map; max_attempts => 1"])).await;
        let run = db.start("f", "[1, 2]").await;
        db.claim("f").await;
        run.fail("m", 0, "boom").await;
        let mut holder = holding(&db, "select from pgflow.runs for no key update").await;
        let statement = format!(
            "select outcome from (values (array['{0}', '{0}']::uuid[], array['m', 'm'], array[0, 1])) a(k, k_steps, k_indexes),
                pgflow.{settle}",
            run.id
        );
        let waiting = Waiting::for_a_lock(&db, &statement).await;
        let failure = db.error(&format!("{MAP} for no key update nowait")).await;
        assert_eq!(failure.code, "55P03", "{settle}");
        holder.run("commit").await;
        waiting.answer().await.expect("an outcome");
        db.check().await;
    }
}
