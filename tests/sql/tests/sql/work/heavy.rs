//! Claims of what is large: in bounded portions, and what nobody can be given ends.

use crate::harness::{Db, define};

/// Starts so many runs, each with what the expression over `i` gives.
async fn start(db: &Db, runs: u32, input: &str) {
    start_in(db, "f", runs, input).await;
}

async fn start_in(db: &Db, flow: &str, runs: u32, input: &str) {
    let start = format!("pgflow.start_flow('{flow}', to_jsonb({input}))");
    db.run(&format!("select s.run_id from generate_series(1, {runs}) i, {start} s")).await;
}

/// Three megabytes that do not compress.
const RANDOM: &str = "(select string_agg(md5((i * n)::text), '') from generate_series(1, 93750) n)";

#[tokio::test]
async fn a_claim_takes_no_more_than_an_answer_holds() {
    let db = Db::with(&define("f", &["a"])).await;
    start(&db, 24, RANDOM).await;
    // Compressed, they are next to nothing.
    start(&db, 24, "repeat(i::text, 1900000)").await;
    let mut claimed = Vec::new();
    while claimed.iter().sum::<u32>() < 48 {
        let call = "select count(*), sum(octet_length(input::text)) < 150000000 from pgflow.claim_tasks(array['f'], 300)";
        let answer = db.one(call).await;
        let tasks = answer.strip_suffix("|t").unwrap_or_else(|| panic!("{answer}"));
        claimed.push(tasks.parse::<u32>().expect("a number"));
        assert!((1..=36).contains(claimed.last().expect("one")), "{claimed:?}");
    }
    let attempts =
        "select distinct attempts_count, requeued_count, refunded_count from pgflow.step_tasks";
    assert_eq!(db.rows(attempts).await, ["1|0|0"]);
    db.check().await;
}

/// Flows of one step, each with so many runs.
async fn with_flows(flows: u32, step: &str, runs: u32, input: &str) -> (Db, Vec<String>) {
    let names: Vec<_> = (0..flows).map(|n| format!("f{n}")).collect();
    let db = Db::with(&names.iter().map(|flow| define(flow, &[step])).collect::<String>()).await;
    for flow in &names {
        start_in(&db, flow, runs, input).await;
    }
    (db, names)
}

/// Tasks of each answer to claims of all these flows; each has no more bytes than this.
async fn claims_of(db: &Db, flows: &[String], most: u32) -> Vec<u32> {
    let call = format!(
        "select count(*), coalesce(sum(octet_length(input::text)), 0) <= {most} from pgflow.claim_tasks('{{{}}}', 300)",
        flows.join(",")
    );
    let mut claimed = Vec::new();
    loop {
        let answer = db.one(&call).await;
        let tasks = answer.strip_suffix("|t").unwrap_or_else(|| panic!("{answer}, {claimed:?}"));
        match tasks.parse().expect("a number") {
            0 => return claimed,
            tasks => claimed.push(tasks),
        }
    }
}

#[tokio::test]
async fn nor_does_a_claim_of_several_flows() {
    let (db, flows) = with_flows(3, "a", 8, "repeat(i::text, 3900000)").await;
    assert_eq!(claims_of(&db, &flows, 64_000_000).await, [16, 8]);
    db.check().await;
}

/// Of each flow a part of one map, whose elements are never too large together.
#[tokio::test]
async fn nor_does_one_of_several_maps() {
    let elements = "(select jsonb_agg(repeat('x', 390000)) from generate_series(1, 10) n)";
    let (db, flows) = with_flows(18, "m map", 1, elements).await;
    assert_eq!(claims_of(&db, &flows, 64_000_000).await, [164, 16]);
    db.check().await;
}

/// One task may be more than that, but then it is alone.
#[tokio::test]
async fn the_largest_tasks_come_one_by_one() {
    let (db, flows) = with_flows(3, "a", 1, "i").await;
    db.run("update pgflow.runs set input = to_jsonb(repeat('x', 70000000))").await;
    assert_eq!(claims_of(&db, &flows, 71_000_000).await, [1, 1, 1]);
}

/// What could be too much, by what is known without looking, is looked at before it is left for later.
#[tokio::test]
async fn what_only_might_be_too_much_is_claimed_at_once() {
    let (db, flows) = with_flows(3, "a", 30, "repeat(i::text, 30000)").await;
    assert_eq!(claims_of(&db, &flows, 64_000_000).await, [90]);
}

#[tokio::test]
async fn so_do_clients_of_two_phases() {
    let db = Db::with(&define("f", &["a"])).await;
    start(&db, 24, RANDOM).await;
    db.run(
        "insert into pgflow.workers (worker_id, queue_name, function_name)
            values ('11111111-1111-1111-1111-111111111111', 'f', 'f')",
    )
    .await;
    let mut left = 24;
    for _ in 0..5 {
        let call = "select count(*) from pgflow.start_tasks('f',
            (select array_agg(msg_id) from pgmq.read('f', 60, 24)), '11111111-1111-1111-1111-111111111111')";
        left -= db.one(call).await.parse::<u32>().expect("a number");
    }
    assert_eq!(left, 0);
    db.check().await;
}

/// Two maps whose outputs fit a JSON value each, and not both together. Only their sizes say so: nothing is read.
async fn with_task_for_nobody(options: &str) -> Db {
    let db = Db::with(&define("f", &["m map", "n map"])).await;
    db.run(&format!("select pgflow.add_step('f', 'both', array['m', 'n']{options})")).await;
    let run = db.start("f", "[1]").await;
    db.claim("f").await;
    for step in ["m", "n"] {
        db.run(&format!("select pgflow.complete_task('{}', '{step}', 0, '1')", run.id)).await;
    }
    // As if they had many tasks.
    db.run("update pgflow.step_states set output_bytes = 144000000 where step_slug <> 'both'")
        .await;
    db
}

#[tokio::test]
async fn a_task_that_nobody_can_be_given_ends_its_step() {
    let db = with_task_for_nobody("").await;
    db.run("select pgflow.start_flow('f', '[2]')").await;
    assert_eq!(db.claim("f").await.len(), 2, "others are not held up");
    assert_eq!(db.one("select status from pgflow.step_tasks where step_slug = 'both' and message_id is not null and attempts_count = 0 and status = 'queued'").await, "queued");
    db.run("select pgflow.requeue_stalled_tasks(0)").await;
    let failed = "select s.status, r.status, s.error_message like 'Input too large: what step both is given%'
        from pgflow.step_states s join pgflow.runs r using (run_id) where s.step_slug = 'both' and s.status = 'failed'";
    assert_eq!(db.rows(failed).await, ["failed|failed|t"]);
    assert_eq!(db.queue("f").await.len(), 2, "only those of the other run are left");
}

#[tokio::test]
async fn its_step_ends_as_the_definition_says() {
    let db = with_task_for_nobody(", when_exhausted => 'skip'").await;
    assert_eq!(db.claim("f").await.len(), 0);
    db.run("select pgflow.requeue_stalled_tasks(0)").await;
    let ended = "select s.status, s.skip_reason, r.status from pgflow.step_states s join pgflow.runs r using (run_id)
        where s.step_slug = 'both'";
    assert_eq!(db.rows(ended).await, ["skipped|handler_failed|completed"]);
    assert_eq!(db.queue("f").await.len(), 0);
}

#[tokio::test]
async fn taken_up_again_it_is_tried_again_and_ends_again() {
    let db = with_task_for_nobody("").await;
    for _ in 0..2 {
        assert_eq!(db.claim("f").await.len(), 0);
        db.run("select pgflow.requeue_stalled_tasks(0)").await;
        assert_eq!(db.rows("select status from pgflow.runs").await, ["failed"]);
        db.run("select pgflow.retry_run(run_id) from pgflow.runs").await;
    }
    // With less to be given it goes on.
    db.run("update pgflow.step_states set output_bytes = 1 where step_slug = 'n'").await;
    assert_eq!(db.claim("f").await.len(), 1);
}

/// A task that is marked and one that was ended for it are no damage.
#[tokio::test]
async fn the_checker_knows_of_tasks_that_nobody_can_be_given() {
    let db = with_task_for_nobody("").await;
    let alarms = "select distinct invariant from pgflow.check() where invariant like 'task%' or invariant like 'message%'";
    assert_eq!(db.claim("f").await.len(), 0);
    assert_eq!(db.rows(alarms).await, [""; 0], "marked");
    db.run("select pgflow.requeue_stalled_tasks(0)").await;
    assert_eq!(db.rows(alarms).await, [""; 0], "ended");
}

/// As text, a number may have ten thousand times what it takes inside.
#[tokio::test]
async fn a_claim_goes_by_what_is_sent_not_by_what_is_stored() {
    let db = Db::with(&define("f", &["m map", "n map after m"])).await;
    for _ in 0..2 {
        db.run("select 1 from pgflow.start_flow('f', (select jsonb_agg(n) from generate_series(1, 20) n))").await;
    }
    let complete = "select count(*) from (
        select array_agg(run_id) r, array_agg(step_slug) s, array_agg(task_index) i, array_agg(attempt) a, array_agg((
          select jsonb_agg('1e131071'::jsonb) from generate_series(1, 31))) o from pgflow.claim_tasks(array['f'], 100)
      ) t, pgflow.complete_tasks(r, s, i, o, a)";
    assert_eq!(db.one(complete).await, "40");
    let mut claimed = Vec::new();
    while claimed.iter().sum::<u32>() < 40 {
        let call = "select count(*), sum(octet_length(input::text)) <= 64000000 from pgflow.claim_tasks(array['f'], 100)";
        let answer = db.one(call).await;
        let tasks = answer.strip_suffix("|t").unwrap_or_else(|| panic!("{answer}"));
        claimed.push(tasks.parse::<u32>().expect("a number"));
    }
    assert_eq!(claimed, [15, 15, 10]);
    db.check().await;
}

/// A flow whose step `z` is given 20 MB, with a run that has come so far.
async fn with_heavy_step() -> Db {
    let db =
        Db::with(&define("f", &["s", "m map after s", "e map after s", "z after s m e"])).await;
    let run = db.start("f", "{\"in\": 1}").await;
    db.claim("f").await;
    run.complete("s", 0, "[1, 2, 3, 4, 5]").await;
    let complete = "select count(*) from (
           select array_agg(run_id) r, array_agg(step_slug) s, array_agg(task_index) i, array_agg(attempt) a, array_agg(
             case when step_slug = 'e' then '1'::jsonb else to_jsonb(repeat(task_index::text, 4000000)) end) o
             from pgflow.claim_tasks(array['f'], 100)
         ) t, pgflow.complete_tasks(r, s, i, o, a)";
    assert_eq!(db.one(complete).await, "10");
    db
}

const FETCHES: &str = "11111111-1111-1111-1111-111111111111";

/// Large outputs are fetched by those who say that they can, and handed to all others.
#[tokio::test]
async fn large_outputs_are_left_to_be_fetched() {
    let db = with_heavy_step().await;
    db.run(&format!(
        "insert into pgflow.workers (worker_id, queue_name, function_name, fetches_outputs) values ('{FETCHES}', 'f', 'f', true)"
    ))
    .await;
    let whole = "select octet_length(input::text) > 20000000, jsonb_array_length(input -> 'm'), input -> 'e', input -> 's',
        input -> 'run', input ? 'pgflow:left_out' from pgflow.claim_tasks(array['f'], 100)";
    let parts = "t|5|[1, 1, 1, 1, 1]|[1, 2, 3, 4, 5]|{\"in\": 1}|f";
    assert_eq!(db.one(whole).await, parts);
    db.run("select pgflow.release_tasks(array[run_id], array['z'], array[0], array[1]) from pgflow.runs").await;
    let named = format!("select input from pgflow.claim_tasks(array['f'], 100, '{FETCHES}')");
    assert_eq!(
        db.one(&named).await,
        r#"{"run": {"in": 1}, "pgflow:left_out": {"e": "map", "m": "map", "s": "single"}}"#
    );
    let pages = "select count(*), sum(length(output)) from pgflow.get_step_outputs((select run_id from pgflow.runs), 'm', 0, 100000000)";
    assert_eq!(db.one(pages).await, "5|20000010");
    db.check().await;
}

/// A flow that cannot be claimed does not keep the others from it.
#[tokio::test]
async fn a_broken_queue_stops_no_other() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["a"]))).await;
    db.start("f", "1").await;
    db.start("g", "1").await;
    db.run("alter table pgmq.q_f add constraint broken check (read_ct = 0)").await;
    let both = "select flow_slug from pgflow.claim_tasks(array['f', 'g'], 100)";
    assert_eq!(db.rows(both).await, ["g"]);
    assert_eq!(db.error("select pgflow.claim_tasks(array['f'], 100)").await.code, "23514");
    let unknown =
        "select pgflow.claim_tasks(array['f', 'g'], 100, '11111111-1111-1111-1111-111111111111')";
    db.start("g", "1").await;
    assert_eq!(db.error(unknown).await.code, "23503", "what is about the worker is said");
    db.run("alter table pgmq.q_f drop constraint broken").await;
    assert_eq!(db.rows(both).await.len(), 2);
}
