//! `get_run`, `get_run_statuses`, `get_run_input`, `get_run_steps` and `get_step_outputs`.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_run_is_read_with_and_without_its_payloads() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{\"in\": 1}").await;
    run.finish("a", "1").await;
    let read = |payloads: &str| {
        let columns =
            "flow_slug, status, remaining_steps, ended_at is null, input, output, is_large";
        format!("select {columns} from pgflow.get_run('{}', {payloads})", run.id)
    };
    assert_eq!(db.one(&read("true")).await, "f|started|1|t|{\"in\": 1}|NULL|f");
    assert_eq!(db.one(&read("false")).await, "f|started|1|t|NULL|NULL|f");
    run.finish("b", "[2]").await;
    assert_eq!(db.one(&read("true")).await, "f|completed|0|f|{\"in\": 1}|{\"b\": [2]}|f");
    assert_eq!(db.one(&read("false")).await, "f|completed|0|f|NULL|NULL|f");
    let input = format!("select pgflow.get_run_input('{}')", run.id);
    assert_eq!(db.one(&input).await, "{\"in\": 1}");
    assert_eq!(db.one("select pgflow.get_run_input(gen_random_uuid())").await, "NULL");
    assert_eq!(db.rows("select * from pgflow.get_run(gen_random_uuid())").await, [""; 0]);
}

#[tokio::test]
async fn many_runs_are_looked_at_in_one_call() {
    let db = Db::with(&define("f", &["a"])).await;
    let (open, ended) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.run(&format!("select pgflow.cancel_run('{}')", ended.id)).await;
    let sql = format!(
        "select run_id, status, ended_at is not null
           from pgflow.get_run_statuses(array['{}', '{}', gen_random_uuid()]::uuid[]) order by status desc",
        open.id, ended.id
    );
    let expected = [format!("{}|started|f", open.id), format!("{}|cancelled|t", ended.id)];
    assert_eq!(db.rows(&sql).await, expected);
}

#[tokio::test]
async fn steps_come_in_order_with_outputs_if_asked_for() {
    let db = Db::with(&define("f", &["z", "m map after z", "a after m"])).await;
    let run = db.start("f", "{}").await;
    run.finish("z", "[1, 2]").await;
    let read = |outputs: &str| {
        let columns = "step_slug, step_type, status, remaining_deps, initial_tasks, remaining_tasks, is_leaf, output";
        format!("select {columns} from pgflow.get_run_steps('{}', {outputs})", run.id)
    };
    let expected = |output: &str| {
        [
            format!("z|single|completed|0|1|0|f|{output}"),
            "m|map|started|0|2|2|f|NULL".to_owned(),
            "a|single|created|1|1|NULL|t|NULL".to_owned(),
        ]
    };
    assert_eq!(db.rows(&read("true")).await, expected("[1, 2]"));
    assert_eq!(db.rows(&read("false")).await, expected("NULL"));
}

#[tokio::test]
async fn outputs_come_in_pages_and_only_of_completed_steps() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    run.complete("m", 0, "\"zero\"").await;
    run.complete("m", 1, None).await;
    let page = |first: u32, bytes: u32| {
        format!(
            "select task_index, output from pgflow.get_step_outputs('{}', 'm', {first}, {bytes})",
            run.id
        )
    };
    assert_eq!(db.rows(&page(0, 100)).await, [""; 0], "the step goes on");
    run.complete("m", 2, "[2]").await;
    assert_eq!(db.rows(&page(0, 100)).await, ["0|\"zero\"", "1|null", "2|[2]"]);
    assert_eq!(db.rows(&page(0, 7)).await, ["0|\"zero\"", "1|null"], "until it is too much");
    assert_eq!(db.rows(&page(1, 0)).await, ["1|null"], "one at least");
    assert_eq!(db.rows(&page(3, 100)).await, [""; 0]);
}

#[tokio::test]
async fn what_is_large_is_said_to_be_and_not_read() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    // Random enough that it can't be compressed much.
    let text = "(select to_jsonb(string_agg(md5(n::text), '')) from generate_series(1, 9000) n)";
    db.run(&format!("select pgflow.complete_task('{}', 'a', 0, {text})", run.id)).await;
    let sql = format!("select is_large, output from pgflow.get_run('{}')", run.id);
    assert_eq!(db.one(&sql).await, "t|NULL");
    let sql = format!("select is_large, output from pgflow.get_run_steps('{}', true)", run.id);
    assert_eq!(db.one(&sql).await, "t|NULL");
    let sql = format!("select length(output) from pgflow.get_step_outputs('{}', 'a')", run.id);
    assert_eq!(db.one(&sql).await, "288002");
}

#[tokio::test]
async fn a_started_step_says_what_its_tasks_are_doing() {
    let db =
        Db::with(&define("f", &["m map; max_attempts => 9, base_delay => 100", "z after m"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    let read = format!(
        "select step_slug, attempts, running, worker_id is not null, last_error, next_at <= now(), next_at > now() + interval '1 minute'
           from pgflow.get_run_steps('{}')",
        run.id
    );
    let nothing = "z|NULL|NULL|f|NULL|NULL|NULL";
    assert_eq!(db.rows(&read).await, ["m|0|0|f|NULL|t|f", nothing]);
    db.run("insert into pgflow.workers (worker_id, queue_name, function_name) values (gen_random_uuid(), 'f', 'w')").await;
    db.run("select pgflow.claim_tasks(array['f'], 2, (select worker_id from pgflow.workers))")
        .await;
    assert_eq!(db.rows(&read).await, ["m|2|2|t|NULL|t|f", nothing]);
    db.claim("f").await;
    run.fail("m", 0, "first").await;
    run.complete("m", 1, "1").await;
    run.complete("m", 2, "1").await;
    assert_eq!(db.rows(&read).await, ["m|3|0|f|first|f|t", nothing]);
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    assert_eq!(db.rows(&read).await, ["m|NULL|NULL|f|NULL|NULL|NULL", nothing]);
}
