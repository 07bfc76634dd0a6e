//! Interleavings in which calls once waited for each other, step by step.

use crate::harness::{Db, Run, Waiting, define};

/// A map of three tasks, all taken; then the first is handed back.
async fn first_of_three_is_queued(db: &Db) -> Run<'_> {
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    db.run(&release(&run, &[(0, 1)])).await;
    run
}

fn release(run: &Run<'_>, tasks: &[(u32, u32)]) -> String {
    let list = |cell: &dyn Fn(&(u32, u32)) -> String| {
        tasks.iter().map(cell).collect::<Vec<_>>().join(", ")
    };
    format!(
        "select outcome from pgflow.release_tasks(array[{}]::uuid[], array[{}], array[{}], array[{}])",
        list(&|_| format!("'{}'", run.id)),
        list(&|_| "'m'".to_owned()),
        list(&|(index, _)| index.to_string()),
        list(&|(_, attempt)| attempt.to_string()),
    )
}

/// A settle that means the newest attempts looks at the tasks once. What is claimed while it waits for
/// the locks is none of its business: it has no lock on that, and would take it out of order.
#[tokio::test]
async fn a_settle_without_attempts_leaves_what_is_claimed_while_it_waits() {
    let three = "array[RUN, RUN, RUN]::uuid[], array['m', 'm', 'm'], array[0, 1, 2]";
    let two = "array[RUN, RUN]::uuid[], array['m', 'm'], array[0, 1]";
    let last = "array[RUN]::uuid[], array['m'], array[2]";
    for (applied, settle) in [
        (2, format!("fail_tasks({three}, array['x', 'y', 'z'])")),
        // The first that is fatal ends the step.
        (1, format!("fail_tasks({three}, array['x', 'y', 'z'], fatal => array[true, true, true])")),
        (2, format!("complete_tasks({three}, array['1'::jsonb, '2', '3'])")),
        (
            2,
            format!(
                "settle_and_claim({two}, array['1'::jsonb, '2'], null, {last}, array['z'], null, null, null, null, 0)"
            ),
        ),
        (
            2,
            format!(
                "settle_and_claim({last}, array['1'::jsonb], null, {two}, array['y', 'z'], null, null, null, null, 0)"
            ),
        ),
    ] {
        let db = Db::with(&define("f", &["m map; when_exhausted => 'skip'"])).await;
        let run = first_of_three_is_queued(&db).await;
        let settle = settle.replace("RUN", &format!("'{}'", run.id));
        let mut holder = db.session().await;
        let beat = format!(
            "pgflow.heartbeat(array['{}']::uuid[], array['m'], array[2], array[1])",
            run.id
        );
        holder.run(&format!("begin; select {beat}")).await;
        let settles =
            Waiting::for_a_lock(&db, &format!("select outcome from pgflow.{settle}")).await;
        assert_eq!(db.claim_up_to("f", 1).await[0].attempt, 2);
        let releases = Waiting::for_a_lock(&db, &release(&run, &[(0, 2), (1, 1)])).await;
        holder.run("commit").await;
        let settled =
            settles.answer().await.unwrap_or_else(|failure| panic!("{failure}\nin {settle}"));
        assert_eq!(
            settled.iter().filter(|outcome| *outcome == "applied").count(),
            applied,
            "{settle}: {settled:?}"
        );
        releases.answer().await.unwrap_or_else(|failure| panic!("{failure}\nbeside {settle}"));
        db.check().await;
    }
}

/// The second update of a run in one transaction makes its foreign key look at the flow. Who deletes
/// that flow must not hold it while it waits for the run.
#[tokio::test]
async fn a_deletion_holds_no_flow_while_it_waits_for_a_run() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let mut worker = db.session().await;
    let complete =
        |step: &str| format!("select pgflow.complete_task('{}', '{step}', 0, '1')", run.id);
    worker.run(&format!("set statement_timeout = '5s'; begin; {}", complete("a"))).await;
    worker.run("select pgflow.claim_tasks(array['f'], 1)").await;
    let deletion = Waiting::for_another_try(&db, "select pgflow.delete_flow_and_data('f')").await;
    worker.run(&complete("b")).await;
    worker.run("commit").await;
    deletion.answer().await.expect("the flow is free now");
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
}

/// A flow is locked before its versions: whoever replaces the flow has the one and may want the other.
#[tokio::test]
async fn a_version_is_added_after_its_flow_was_replaced() {
    let db = Db::with(&define("f", &["a"])).await;
    let add = "select flow_slug from pgflow.add_flow_version('f', 1, 'f')";
    let mut one = db.session().await;
    one.run("begin; select pgflow.delete_flow_and_data('f')").await;
    one.run(&define("f", &["b"])).await;
    let adds = Waiting::for_a_lock(&db, add).await;
    assert_eq!(one.one(add).await, "f");
    one.run("commit").await;
    assert_eq!(adds.answer().await, Ok(vec!["f".to_owned()]));
    db.check().await;
}

/// Whoever waits for a flow that is replaced meanwhile locks the new one.
#[tokio::test]
async fn a_step_is_added_under_the_lock_of_a_flow_that_was_replaced() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.delete_flow_and_data('f')").await;
    one.run(&define("f", &["b"])).await;
    let add = "begin; select step_index from pgflow.add_step('f', 'c', array['b']);
        select pg_advisory_lock(77); commit";
    let mut gate = db.session().await;
    gate.run("select pg_advisory_lock(77)").await;
    let adds = Waiting::for_a_lock(&db, add).await;
    one.run("commit").await;
    let waits =
        "select count(*) from pg_locks where locktype = 'advisory' and objid = 77 and not granted";
    while db.one(waits).await == "0" {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let lock = "select from pgflow.flows where flow_slug = 'f' for no key update nowait";
    assert_eq!(db.error(lock).await.code, "55P03");
    gate.run("select pg_advisory_unlock(77)").await;
    adds.answer().await.expect("no deadlock");
    assert_eq!(db.rows("select step_slug from pgflow.steps order by step_index").await, ["b", "c"]);
}

#[tokio::test]
async fn a_run_is_started_with_the_options_of_a_flow_that_was_replaced() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.delete_flow_and_data('f')").await;
    one.run(&define("f", &["b"])).await;
    one.run("select pgflow.configure_flow('f', record_events => false)").await;
    let start = "select record_events from pgflow.start_flow('f', '{}')";
    let starts = Waiting::for_a_lock(&db, start).await;
    let options = Waiting::for_a_lock(
        &db,
        "select opt_timeout from pgflow.set_flow_options('f', timeout => 9)",
    )
    .await;
    one.run("commit").await;
    assert_eq!(starts.answer().await, Ok(vec!["f".to_owned()]));
    assert_eq!(options.answer().await, Ok(vec!["9".to_owned()]));
    db.check().await;
}
