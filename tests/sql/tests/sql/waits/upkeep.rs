//! Lists, pruning, deleting.

use super::{announce, later, signal, started, wait};
use crate::harness::{Db, define};
use crate::pipelines::flat::blocks;

#[tokio::test]
async fn waits_are_listed_by_age_in_pages() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x"]))).await;
    let hook = db.start("f", "{}").await;
    let child = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&hook, &db, "a", 1, r#"{"on": "hook", "token": "t", "timeout": 60}"#).await;
    wait(&child, &db, "a", 1, r#"{"on": "runs", "children": [{"flow": "c", "input": 1}]}"#).await;
    let list = "select run_id, step_slug, task_index, attempt, kind, token, cardinality(children), until - since from pgflow.list_waits";
    let both = db.rows(&format!("{list}()")).await;
    let (first, second) = (
        format!("{}|a|0|1|hook|t|NULL|00:01:00", hook.id),
        format!("{}|a|0|1|runs|NULL|1|NULL", child.id),
    );
    assert_eq!(db.rows("select pgflow.list_waits()").await.len(), 2);
    assert_eq!(both, [first.clone(), second.clone()]);
    assert_eq!(db.rows(&format!("{list}(of_token => 't')")).await, std::slice::from_ref(&first));
    assert_eq!(
        db.rows(&format!("{list}(of_run => '{}')", child.id)).await,
        std::slice::from_ref(&second)
    );
    assert_eq!(db.rows(&format!("{list}(qty => 1)")).await, [first]);
    let after =
        format!("(select since from pgflow.waits where run_id = '{}'), '{0}', 'a', 0", hook.id);
    assert_eq!(db.rows(&format!("{list}(null, null, {after})")).await, [second]);
}

#[tokio::test]
async fn waits_that_nobody_ended_in_time_are_counted() {
    let db = Db::with(&define("f", &["a"])).await;
    for ago in [600, 900, 60] {
        let run = db.start("f", "{}").await;
        db.claim("f").await;
        wait(&run, &db, "a", 1, &format!(r#"{{"on": "hook", "token": "{ago}", "timeout": 3600}}"#))
            .await;
    }
    db.run("update pgflow.waits set until = clock_timestamp() - token::int * interval '1 second'")
        .await;
    let late = async |late: &str| {
        db.one(&format!(
            "select waits || ' ' || coalesce(round(extract(epoch from clock_timestamp() - late_since) / 60)::text, 'none')
               from pgflow.count_late_waits({late})"
        ))
        .await
    };
    assert_eq!(late("'5 minutes'").await, "2 15");
    assert_eq!(late("'5 minutes', 1").await, "1 15", "no more are counted");
    assert_eq!(late("'1 hour'").await, "0 none");
}

#[tokio::test]
async fn what_waits_know_of_a_run_goes_with_it() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let token = announce(&run, &db, "a", 1).await;
    db.run(&signal(&token, "1", "'r'")).await;
    wait(&run, &db, "a", 1, &format!(r#"{{"on": "hook", "token": "{token}"}}"#)).await;
    assert_eq!(db.one(&signal(&token, "1", "'r'")).await, "duplicate");
    assert_eq!(db.one("select pgflow.prune_runs('0 seconds')").await, "1");
    assert_eq!(
        db.one(
            "select (select count(*) from pgflow.hooks) + (select count(*) from pgflow.signals)"
        )
        .await,
        "0"
    );
    assert_eq!(db.one(&signal(&token, "1", "'r'")).await, "gone");
    db.check().await;
}

/// Its output is still to be read.
#[tokio::test]
async fn a_child_is_not_pruned_before_its_siblings_have_ended() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x"]))).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "runs", "each": true, "children": [{"flow": "c", "input": 1}, {"flow": "c", "input": 2}]}"#).await;
    let children = started(&db, "c").await;
    db.claim("c").await;
    db.run(&format!("select pgflow.complete_task('{}', 'x', 0, '1')", children[0])).await;
    assert_eq!(db.one("select pgflow.prune_runs('0 seconds')").await, "0");
    db.run("select pgflow.wake_waits()").await;
    assert_eq!(db.one("select pgflow.prune_runs('0 seconds')").await, "0");
    db.run(&format!("select pgflow.complete_task('{}', 'x', 0, '2')", children[1])).await;
    db.run("select pgflow.wake_waits()").await;
    assert_eq!(run.get("output").await, r#"{"a": [{"x": 1}, {"x": 2}]}"#);
    assert_eq!(db.one("select pgflow.prune_runs('0 seconds')").await, "3");
    db.check().await;
}

#[tokio::test]
async fn a_flow_can_be_deleted_while_others_wait_for_its_runs() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x"]))).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "runs", "children": [{"flow": "c", "input": 1}]}"#).await;
    let child = started(&db, "c").await.remove(0);
    db.run("select pgflow.delete_flow_and_data('c')").await;
    db.check().await;
    db.run("select pgflow.wake_waits()").await;
    assert_eq!(run.task("a", 0, "error_message").await, format!("child run {child} was deleted"));
    db.check().await;
}

#[tokio::test]
async fn children_of_a_flow_that_is_deleted_are_cancelled() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x"]))).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "runs", "children": [{"flow": "c", "input": 1}]}"#).await;
    db.run("select pgflow.delete_flow_and_data('f')").await;
    db.check().await;
    assert_eq!(db.one("select children from pgflow.cancel_abandoned()").await, "1");
    assert_eq!(started(&db, "c").await.len(), 0);
    db.check().await;
}

/// A run that nothing of waits knows ends and goes without a look at their tables.
#[tokio::test]
async fn what_does_not_wait_costs_nothing() {
    let db = Db::with(&define(
        "f",
        &["a", "b after a; max_attempts => 1, when_exhausted => 'skip'", "m map after a"],
    ))
    .await;
    let mut session = db.session().await;
    let scans =
        "select coalesce(sum(seq_scan + coalesce(idx_scan, 0)), 0) from pg_stat_xact_user_tables
        where relname in ('waits', 'awaited', 'wait_ends', 'hooks', 'signals')";
    session.run("begin").await;
    let run = session.one("select run_id from pgflow.start_flow('f', '{}')").await;
    session.run("select pgflow.claim_tasks(array['f'], 1)").await;
    let settle = format!(
        "select pgflow.settle_and_claim(array['{run}']::uuid[], array['a'], array[0], array['[1, 2]'::jsonb], array[1],
            null, null, null, null, null, null, null, array['f'], 3)"
    );
    session.run(&settle).await;
    let both = format!(
        "select pgflow.settle_and_claim(array['{run}', '{run}']::uuid[], array['m', 'm'], array[0, 1], array['1'::jsonb, '2'], null,
            array['{run}']::uuid[], array['b'], array[0], array['boom'], null, null, null, array['f'], 0)"
    );
    session.run(&both).await;
    assert_eq!(
        session.one(&format!("select status from pgflow.runs where run_id = '{run}'")).await,
        "completed"
    );
    assert_eq!(session.one(scans).await, "0");
    session.run("commit").await;
    later(&db, 0).await;
    db.check().await;
}

/// What a page of one run's waits costs depends neither on how many there are of others, nor on how many it has itself.
#[tokio::test]
async fn the_waits_of_a_run_are_found_by_it() {
    let db = Db::with(&define("f", &["a"])).await;
    let (few, many) = (uuid(1), uuid(2));
    let waits = |run: &str, count: u32, hours: u32| {
        format!(
            "insert into pgflow.waits (run_id, step_slug, task_index, attempt, kind, flow_slug, since, until)
             select '{run}', 'a', n, 1, 'sleep', 'f', now() - interval '{hours} hours' + n * interval '1 ms', now() + interval '1 day'
               from generate_series(0, {count} - 1) n"
        )
    };
    let list = |run: &str| format!("select * from pgflow.list_waits('{run}', qty => 20)");
    db.run(&waits(&few, 20, 1)).await;
    let before = blocks(&db, &list(&few)).await;
    // They have waited longer, so that a list by age has them first.
    db.run(&waits(&many, 20_000, 9)).await;
    db.run("analyze pgflow.waits").await;
    for run in [&few, &many] {
        let after = blocks(&db, &list(run)).await;
        println!("{before} blocks, then {after}");
        assert!(before > 1 && after < before + 10, "{before} blocks, then {after}");
    }
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-7000-8000-{number:012}")
}
