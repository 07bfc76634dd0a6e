//! Payload limits: refused before anything is written.

use crate::harness::{Db, Failure, define};

/// An SQL expression for an array nested so deep.
fn nested(levels: usize) -> String {
    format!("(repeat('[', {levels}) || repeat(']', {levels}))::jsonb")
}

/// An SQL expression for about so many bytes that do not compress.
fn random_text(kilobytes: usize) -> String {
    format!(
        "(select to_jsonb(string_agg(md5(random()::text), '')) from generate_series(1, {kilobytes} * 32))"
    )
}

fn assert_names(failure: &Failure, words: &[&str]) {
    assert_eq!(failure.code, "54000", "{failure}");
    for word in words {
        assert!(failure.message.contains(word), "{failure} does not say {word}");
    }
}

async fn nothing_written(db: &Db) {
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    assert_eq!(db.one("select count(*) from pgflow.events").await, "0");
    db.check().await;
}

#[tokio::test]
async fn the_limits_are_one_row_of_sane_values() {
    let db = Db::new().await;
    let row = "select max_payload_bytes, max_depth, max_fanout from pgflow.limits";
    assert_eq!(db.one(row).await, "4194304|100|250000");
    assert!(db.error("insert into pgflow.limits default values").await.code.starts_with("23"));
    for change in [
        "max_payload_bytes = 1023",
        "max_payload_bytes = 67108865",
        "max_depth = 99",
        "max_fanout = 1",
    ] {
        assert_eq!(
            db.error(&format!("update pgflow.limits set {change}")).await.code,
            "23514",
            "{change}"
        );
    }
}

/// Sentences are for people.
#[tokio::test]
async fn programs_read_the_figures_from_the_detail() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.run("update pgflow.limits set max_payload_bytes = 1024, max_fanout = 1000").await;
    for (input, detail) in [
        ("'1e2000'", r#"{"bytes": 2001, "limit": 1024, "problem": "too_large"}"#),
        ("'{}'", r#"{"problem": "not_an_array"}"#),
        ("null", r#"{"problem": "not_an_array"}"#),
    ] {
        let failure = db.error(&format!("select pgflow.start_flow('f', {input})")).await;
        assert_eq!(failure.detail.as_deref(), Some(detail), "{failure}");
    }
    db.run("update pgflow.limits set max_payload_bytes = 4194304").await;
    let start = |input: &str| format!("select pgflow.start_flow('f', {input})");
    let wide = db.error(&start("to_jsonb(array_fill(1, array[1001]))")).await;
    let detail = r#"{"limit": 1000, "problem": "too_wide", "elements": 1001}"#;
    assert_eq!(wide.detail.as_deref(), Some(detail), "{wide}");
    let deep = db.error(&start(&format!("jsonb_build_array({})", nested(500)))).await;
    assert_eq!(deep.detail.as_deref(), Some(r#"{"limit": 100, "problem": "too_deep"}"#), "{deep}");
}

#[tokio::test]
async fn too_large_an_input_is_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    let failure = db.error(&format!("select pgflow.start_flow('f', {})", random_text(4097))).await;
    assert_names(&failure, &["4194304", "input"]);
    nothing_written(&db).await;
    db.run(&format!("select pgflow.start_flow('f', {})", random_text(4000))).await;
    db.check().await;
}

#[tokio::test]
async fn bytes_are_those_of_the_text() {
    let db = Db::with(&define("f", &["a"])).await;
    // Inside, each of these numbers takes four times the bytes of its text.
    let numbers = |count: u32| format!("(select jsonb_agg(7) from generate_series(1, {count}))");
    let fits = 4_194_304 / 3;
    db.run(&format!("select pgflow.start_flow('f', {})", numbers(fits))).await;
    let failure = db.error(&format!("select pgflow.start_flow('f', {})", numbers(fits + 2))).await;
    assert_names(&failure, &["4194309", "4194304"]);
    db.check().await;
}

/// A number takes few bytes inside, whatever its length.
#[tokio::test]
async fn numbers_count_with_all_their_digits() {
    let db = Db::with(&(define("f", &["a"]) + &define("m", &["m map"]))).await;
    let numbers = |count: u32, number: &str| {
        format!("(select jsonb_agg('{number}'::jsonb) from generate_series(1, {count}))")
    };
    for (count, number) in [
        (40_000, "1e131071"),
        (29_000, "1.7976931348623157e308"),
        (40, "1e131071"),
        (40, "-1e131071"),
    ] {
        let failure =
            db.error(&format!("select pgflow.start_flow('f', {})", numbers(count, number))).await;
        assert_names(&failure, &["4194304", "input"]);
    }
    nothing_written(&db).await;
    // 31 of them, and their commas.
    let fits =
        format!("select s.status from pgflow.start_flow('f', {}) s", numbers(31, "1e131071"));
    assert_eq!(db.one(&fits).await, "started");
    let run = db.one("select run_id from pgflow.claim_tasks(array['f'], 1)").await;
    let output =
        format!("select pgflow.complete_task('{}', 'a', 0, {})", run, numbers(40, "1e131071"));
    assert_names(&db.error(&output).await, &["4194304", "output"]);
    let pattern = format!(
        "select pgflow.add_step('m', 'b', required_input_pattern => jsonb_build_object('x', {}))",
        numbers(40, "1e131071")
    );
    assert_names(&db.error(&pattern).await, &["4194304", "pattern"]);
    db.check().await;
}

#[tokio::test]
async fn a_lower_limit_holds_for_small_payloads_too() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("update pgflow.limits set max_payload_bytes = 1024").await;
    assert_names(&db.error("select pgflow.start_flow('f', '1e2000')").await, &["1024", "2001"]);
    let run = db.start("f", "1").await;
    db.claim("f").await;
    let output = format!("select pgflow.complete_task('{}', 'a', 0, '1e2000')", run.id);
    assert_names(&db.error(&output).await, &["1024", "output"]);
}

#[tokio::test]
async fn too_deep_an_input_is_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    for levels in [101, 150, 1000] {
        let failure = db.error(&format!("select pgflow.start_flow('f', {})", nested(levels))).await;
        assert_names(&failure, &["100", "deep", "input"]);
    }
    nothing_written(&db).await;
    db.run(&format!("select pgflow.start_flow('f', {})", nested(100))).await;
    db.check().await;
}

#[tokio::test]
async fn too_deep_an_object_is_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    let object =
        |levels| format!(r#"(repeat('{{"k":', {levels}) || '1' || repeat('}}', {levels}))::jsonb"#);
    let failure = db.error(&format!("select pgflow.start_flow('f', {})", object(101))).await;
    assert_names(&failure, &["100"]);
    nothing_written(&db).await;
    db.run(&format!("select pgflow.start_flow('f', {})", object(99))).await;
}

#[tokio::test]
async fn a_payload_from_a_table_is_measured_as_it_is() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("create table public.stored (what text, payload jsonb)").await;
    db.run(&format!("insert into public.stored values ('deep', {})", nested(1000))).await;
    db.run("insert into public.stored values ('large', to_jsonb(repeat('x', 5000000)))").await;
    // Compressed, these take a few hundred bytes.
    let many = |count: u32, value: &str| {
        format!("(select jsonb_agg({value}) from generate_series(1, {count}))")
    };
    let small =
        [("small_deep", many(3, &nested(120))), ("small_large", many(200, "'1e131071'::jsonb"))];
    for (what, payload) in small {
        db.run(&format!("insert into public.stored values ('{what}', {payload})")).await;
        let size = format!(
            "select pg_column_size(payload) < 455 from public.stored where what = '{what}'"
        );
        assert_eq!(db.one(&size).await, "t", "{what}");
    }
    for what in ["deep", "large", "small_deep", "small_large"] {
        let call = format!("(select payload from public.stored where what = '{what}')");
        assert_names(
            &db.error(&format!("select pgflow.start_flow('f', {call})")).await,
            &["input"],
        );
    }
    nothing_written(&db).await;
}

#[tokio::test]
async fn too_wide_a_root_map_is_refused() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.run("update pgflow.limits set max_fanout = 1000").await;
    let input =
        |elements: u32| format!("(select jsonb_agg(1) from generate_series(1, {elements}))");
    let failure = db.error(&format!("select pgflow.start_flow('f', {})", input(1001))).await;
    assert_names(&failure, &["1001", "1000", "m"]);
    nothing_written(&db).await;
    db.run(&format!("select pgflow.start_flow('f', {})", input(1000))).await;
    assert_eq!(db.one("select count(*) from pgflow.step_tasks").await, "1000");
    db.check().await;
}

#[tokio::test]
async fn too_wide_a_dependent_map_is_refused() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    db.run("update pgflow.limits set max_fanout = 1000").await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let output = "(select jsonb_agg(1) from generate_series(1, 1001))";
    let failure =
        db.error(&format!("select pgflow.complete_task('{}', 'a', 0, {output})", run.id)).await;
    assert_names(&failure, &["1001", "1000", "m"]);
    assert_eq!(run.tasks().await, ["a#0:started:1"], "the worker can still fail it");
    db.check().await;
    run.fail("a", 0, "too wide").await;
    db.check().await;
}

#[tokio::test]
async fn too_large_an_output_is_refused() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let single =
        format!("select pgflow.complete_task('{}', 'a', 0, {})", run.id, random_text(4097));
    assert_names(&db.error(&single).await, &["4194304", "a"]);
    let arrays = format!("array['{0}', '{0}']::uuid[], array['b', 'a'], array[0, 0]", run.id);
    let batch =
        format!("select pgflow.complete_tasks({arrays}, array['1'::jsonb, {}])", nested(101));
    assert_names(&db.error(&batch).await, &["100", "a"]);
    assert_eq!(
        run.tasks().await,
        ["a#0:started:1", "b#0:started:1"],
        "nothing of the batch is written"
    );
    db.check().await;
}

#[tokio::test]
async fn an_operator_can_change_the_limits() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("update pgflow.limits set max_payload_bytes = 1024, max_depth = 200").await;
    db.run(&format!("select pgflow.start_flow('f', {})", nested(101))).await;
    let failure = db.error(&format!("select pgflow.start_flow('f', {})", random_text(2))).await;
    assert_names(&failure, &["1024"]);
    db.check().await;
}
