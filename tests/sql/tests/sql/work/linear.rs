//! What a wide map costs grows as it does, and not with its square. Time is the server's CPU time: a busy machine does not count.

use crate::harness::{Db, Session, define};

const SIZES: [u32; 2] = [8_000, 32_000];

/// What less is said to be as much: clocks count in hundredths of a second.
const LEAST: u64 = 5;

/// How much more four times as much may cost. What grows with the square costs 16 times as much.
const MOST: u64 = 9;

/// The CPU time that the server of this session has used, in hundredths of a second.
async fn used(session: &mut Session) -> u64 {
    let pid = session.one("select pg_backend_pid()").await;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a server on Linux");
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("ticks")).sum()
}

async fn costs(session: &mut Session, call: &str) -> u64 {
    let before = used(session).await;
    session.run(call).await;
    used(session).await - before
}

const COMPLETE: &str = "select from pgflow.complete_tasks(
  (select array_agg(t.run_id) from held t where ...), (select array_agg(t.step_slug) from held t where ...),
  (select array_agg(t.task_index) from held t where ...),
  (select array_agg(to_jsonb(repeat('x', 90) || t.task_index)) from held t where ...))";

/// What the end of a map of this width costs, and what comes after it.
async fn end_of_map(session: &mut Session, flow: &str, width: u32) -> Vec<(&'static str, u64)> {
    let elements = format!("(select jsonb_agg(n) from generate_series(1, {width}) n)");
    session
        .run(&format!(
            "create temp table run as select run_id from pgflow.start_flow('{flow}', {elements})"
        ))
        .await;
    session.run(&format!("create temp table held as select * from pgflow.claim_tasks(array['{flow}'], {width} + 1)")).await;
    let last = "t.step_slug = 'm' and t.task_index = 0";
    session.run(&COMPLETE.replace("...", "t.step_slug = 'm' and t.task_index > 0")).await;
    let after =
        format!("create temp table taken as select * from pgflow.claim_tasks(array['{flow}'], 10)");
    let costs = vec![
        ("the last task", costs(session, &COMPLETE.replace("...", last)).await),
        ("a single step", costs(session, &COMPLETE.replace("...", "t.step_slug = 'other'")).await),
        ("the next claim", costs(session, &after).await),
        ("a look", costs(session, "select length(pgflow.get_run_with_states(run_id)::text) from run").await),
        ("the outputs", costs(session, "select sum(length(o.output)) from run, pgflow.get_step_outputs(run_id, 'm', 0, 100000000) o").await),
    ];
    session.run("drop table run, held, taken; select pgflow.cancel_run(run_id) from pgflow.runs where status = 'started'").await;
    costs
}

#[tokio::test]
async fn four_times_as_many_texts_cost_about_four_times_as_much() {
    let script = define("f", &["m map", "other", "after after m"])
        + &define("leaf", &["m map", "other", "last after other"]);
    let db = Db::with(&script).await;
    let mut session = db.session().await;
    for flow in ["f", "leaf"] {
        end_of_map(&mut session, flow, 100).await; // plans everything
        let [few, many] = [
            end_of_map(&mut session, flow, SIZES[0]).await,
            end_of_map(&mut session, flow, SIZES[1]).await,
        ];
        println!("{flow}: {few:?}, {many:?}");
        for ((what, few), (_, many)) in few.iter().zip(&many) {
            assert!(
                *many <= MOST * few.max(&LEAST),
                "{flow}, {what}: {many} ticks instead of {few}"
            );
        }
    }
}

/// A flow with leaves that are done, and what it costs to complete a step that is no leaf, and then one that is. Another one stays open:
/// the end of a run reads what all have put out.
async fn beside_leaves(session: &mut Session, width: u32, single: u32) -> [u32; 2] {
    let elements = format!("(select jsonb_agg(n) from generate_series(1, {width}) n)");
    session.run(&format!("select from pgflow.start_flow('leaves', {elements})")).await;
    let claim =
        "create temp table held as select * from pgflow.claim_tasks(array['leaves'], 10000)";
    session.run(claim).await;
    let noise = |parts: u32| {
        format!(
            "(select string_agg(md5(n::text || t.task_index), '') from generate_series(1, {parts}) n)"
        )
    };
    let complete = |step: &str, parts: u32| {
        let call = COMPLETE.replace("repeat('x', 90) || t.task_index", &noise(parts));
        call.replace("...", &format!("t.step_slug = '{step}'"))
    };
    session.run(&complete("m", 5)).await;
    session.run(&complete("single", single)).await;
    let inner = session.pages(&complete("inner", 1)).await;
    session.run("drop table held").await;
    session.run(claim).await;
    let leaf = session.pages(&complete("leaf", 1)).await;
    session.run("drop table held").await;
    [inner, leaf]
}

/// A map that is done says how much it put out, and who is no leaf has no part in what leaves put out.
#[tokio::test]
async fn what_leaves_put_out_is_not_read_when_other_steps_end() {
    let db = Db::with(&define("leaves", &["m map", "single", "inner", "leaf after inner", "open"]))
        .await;
    let mut session = db.session().await;
    beside_leaves(&mut session, 100, 1).await; // plans everything
    let [inner, leaf] = beside_leaves(&mut session, 100, 1).await;
    let wide = beside_leaves(&mut session, 8_000, 1).await;
    let large = beside_leaves(&mut session, 100, 40_000).await;
    println!("{inner} and {leaf}, {wide:?}, {large:?}");
    assert!(wide[0] < 2 * inner && wide[1] < 2 * leaf, "{wide:?} instead of {inner} and {leaf}");
    assert!(large[0] < 2 * inner, "{} instead of {inner}", large[0]);
    db.check().await;
}
