//! What is refused: a clear error with a problem for programs, and nothing changed.

use super::{live, submit};
use crate::harness::Db;

/// Call, SQLSTATE, and what is in the problem.
const REFUSED: &[(&str, &str, &str)] = &[
    ("submit_jobs(array['x'], array[null]::text[])", "22004", "bad_need"),
    ("submit_jobs(array['x'], array[''])", "22023", "bad_name"),
    ("submit_jobs(array['x'], array[repeat('n', 129)])", "22023", "bad_name"),
    ("submit_jobs(array[''], array['n'])", "22023", "bad_name"),
    ("submit_jobs(array[repeat('x', 129)], array['n'])", "22023", "bad_name"),
    ("submit_jobs(array['x'], array['n'], keys => array[''])", "22023", "bad_name"),
    ("submit_jobs(array['x', 'y'], array['n'])", "2202E", ""),
    ("submit_jobs(array['x'], null)", "2202E", ""),
    ("submit_jobs(array['x'], array['n'], delays => array[-1])", "22023", "bad_time"),
    (
        "submit_jobs(array['x'], array['n'], wake_ats => array['infinity']::timestamptz[])",
        "22023",
        "bad_time",
    ),
    (
        "submit_jobs(array['x'], array['n'], expires_ats => array['-infinity']::timestamptz[])",
        "22023",
        "bad_time",
    ),
    (
        "submit_jobs(array['x'], array['n'], lifetimes => array[9223372036854775807])",
        "22023",
        "bad_time",
    ),
    ("submit_jobs(array['x'], array['n'], max_attempts => array[0])", "22023", "bad_attempts"),
    (
        "submit_jobs(array['x'], array['n'], array[to_jsonb(repeat('x', 2000000))])",
        "54000",
        "too_large",
    ),
    (
        "submit_jobs(array['x'], array['n'], edge_jobs => array[1], dependencies => array['zz'])",
        "23503",
        "unknown_dependency",
    ),
    (
        "submit_jobs(array['x'], array['n'], edge_jobs => array[1], dependencies => array['x'])",
        "23503",
        "unknown_dependency",
    ),
    (
        "submit_jobs(array['x'], array['n'], edge_jobs => array[2], dependencies => array['live'])",
        "22023",
        "bad_dependency",
    ),
    (
        "submit_jobs(array['x'], array['n'], edge_jobs => array[1], dependencies => array[null]::text[])",
        "22023",
        "bad_dependency",
    ),
    (
        "submit_jobs(array['x'], array['n'], edge_jobs => array[1], dependencies => array['live'], policies => array['explode'])",
        "22023",
        "bad_dependency",
    ),
    (
        "submit_jobs(array['x'], array['n'], edge_jobs => array[1], dependencies => array['live'], edge_kinds => array['run'])",
        "22023",
        "bad_dependency",
    ),
    ("submit_jobs(array['x'], array['n'], edge_jobs => array[1])", "2202E", ""),
    ("claim_jobs('w', null, 60, 1)", "22023", "bad_claim"),
    ("claim_jobs('w', '{}', 60, 1)", "22023", "bad_claim"),
    ("claim_jobs('w', array['n'], 0, 1)", "22023", "bad_claim"),
    ("claim_jobs('w', array['n'], null, 1)", "22023", "bad_claim"),
    ("claim_jobs('w', array['n'], 60, 0)", "22023", "bad_claim"),
    ("claim_jobs(null, array['n'], 60, 1)", "22023", "bad_claim"),
    ("beat_jobs(array['live'], array['x'], 0)", "22023", "bad_lease"),
    ("beat_jobs(array['live'], null, 60)", "2202E", ""),
    ("finish_jobs(array['live'], null)", "2202E", ""),
    (
        "finish_jobs(array['live'], array['x'], array[to_jsonb(repeat('x', 2000000))])",
        "54000",
        "too_large",
    ),
    ("fail_jobs(array['live'], array['x'], null)", "2202E", ""),
    ("fail_jobs(array['live'], array['x'], array['e'], array[-1])", "22023", "bad_time"),
    ("reschedule_jobs(array['live'], array['x'], array[null]::text[])", "22004", "bad_need"),
    ("release_jobs(null, null)", "2202E", ""),
    ("cancel_jobs(null)", "2202E", ""),
    ("clear_concern(null)", "2202E", ""),
    ("complete_unheld_jobs(null)", "2202E", ""),
    ("reschedule_unheld_jobs(array['live'], null)", "2202E", ""),
    ("redrive_jobs()", "22023", "bad_redrive"),
    ("redrive_jobs(array['x'], 'n')", "22023", "bad_redrive"),
    ("redrive_jobs(array['x'], rate => 0)", "22023", "bad_redrive"),
    ("pause_needs(array[null]::text[], 'w')", "22004", "bad_need"),
    ("pause_needs(array['n'], null)", "22023", "bad_name"),
    ("pause_needs(array[repeat('x', 129)], 'w')", "22023", "bad_name"),
    ("settle_job('live', 'x', null)", "22023", "bad_ending"),
    ("settle_job('live', 'x', '[]')", "22023", "bad_ending"),
    ("settle_job('live', 'x', '\"finished\"')", "22023", "bad_ending"),
    (
        "settle_job('live', 'x', '{\"verdict\": \"finished\", \"forks\": {}}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"finished\", \"forks\": [1]}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"handed_over\", \"after\": \"y\"}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"forks\": [{\"need\": \"n\", \"after\": 1}]}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"failed\", \"delay\": \"abc\"}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"failed\", \"delay\": 1e30}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"handed_over\", \"need\": \"n\", \"wake_at\": 1e30}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"handed_over\", \"need\": \"n\", \"wake_at\": \"soon\"}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"handed_over\", \"need\": \"n\", \"frees_key\": 2.5}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"finished\", \"forks\": [{\"need\": \"n\", \"priority\": \"high\"}]}')",
        "22023",
        "bad_ending",
    ),
    (
        "settle_job('live', 'x', '{\"verdict\": \"finished\", \"forks\": [{\"need\": \"n\", \"expires_at\": \"31.02.2031\"}]}')",
        "22023",
        "bad_ending",
    ),
    ("set_job_settings(crash_threshold => 0)", "22023", "bad_threshold"),
];

#[tokio::test]
async fn bad_input_is_refused_and_changes_nothing() {
    let db = Db::new().await;
    submit(&db, "n", &["live"]).await;
    db.run("update pgflow.limits set max_payload_bytes = 1000000").await;
    for (call, code, problem) in REFUSED {
        let failure = db.error(&format!("select pgflow.{call}")).await;
        assert_eq!(failure.code, *code, "{call}: {failure}");
        if !problem.is_empty() {
            let detail = failure.detail.unwrap_or_default();
            assert!(detail.contains(&format!("\"problem\": \"{problem}\"")), "{call}: {detail}");
        }
    }
    assert_eq!(live(&db).await, ["live:n:ready"]);
    assert_eq!(db.one("select count(*) from pgflow.job_trace").await, "1");
    db.check().await;
}

/// Positions in such an array are not those of another: who would be meant is not guessed.
#[tokio::test]
async fn arrays_that_do_not_count_from_one_are_refused() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    assert_eq!(super::claim(&db, &["n"], 2).await, ["a", "b"]);
    let tokens = "(select array_agg(token::text order by id) from pgflow.jobs)";
    // Of two, of one that is no first, and of rows.
    let strange = |one: &str, two: &str| {
        [
            format!("'[0:1]={{{one},{two}}}'"),
            format!("'[2:3]={{{one},{two}}}'"),
            format!("'{{{{{one}}},{{{two}}}}}'"),
        ]
    };
    let mut calls = Vec::new();
    for ids in strange("a", "b") {
        calls.push(format!("finish_jobs({ids}, {tokens})"));
        calls.push(format!("fail_jobs({ids}, {tokens}, array['e', 'e'])"));
        calls.push(format!("release_jobs({ids}, {tokens})"));
        calls.push(format!("reschedule_jobs({ids}, {tokens}, array['m', 'm'])"));
        calls.push(format!("beat_jobs({ids}, {tokens}, 60)"));
        calls.push(format!("cancel_jobs({ids})"));
        calls.push(format!("clear_concern({ids})"));
        calls.push(format!("complete_unheld_jobs({ids})"));
        calls.push(format!("submit_jobs({ids}, array['n', 'n'])"));
    }
    for words in strange("fatal", "fatal") {
        calls.push(format!("settle_jobs(array['a', 'b'], {tokens}, {words}::text[])"));
        calls.push(format!("fail_jobs(array['a', 'b'], {tokens}, {words}::text[])"));
        calls.push(format!("reschedule_jobs(array['a', 'b'], {tokens}, {words}::text[])"));
        calls.push(format!("submit_jobs(array['x', 'y'], {words}::text[])"));
    }
    for outputs in strange("1", "2") {
        calls.push(format!("finish_jobs(array['a', 'b'], {tokens}, {outputs}::jsonb[])"));
        calls.push(format!(
            "fail_jobs(array['a', 'b'], {tokens}, array['e', 'e'], {outputs}::bigint[])"
        ));
        calls.push(format!("complete_unheld_jobs(array['a', 'b'], {outputs}::jsonb[])"));
        calls.push(format!("submit_jobs(array['x', 'y'], array['n', 'n'], {outputs}::jsonb[])"));
        calls.push(format!(
            "submit_jobs(array['x', 'y'], array['n', 'n'], edge_jobs => {outputs}::int[], dependencies => array['a', 'a'])"
        ));
    }
    calls.push("submit_jobs('[0:0]={x}', '[0:0]={n}')".to_owned());
    let before = db.rows("select j from pgflow.jobs j order by id").await;
    for call in calls {
        let failure = db.error(&format!("select pgflow.{call}")).await;
        assert_eq!(failure.code, "2202E", "{call}: {failure}");
        assert_eq!(db.rows("select j from pgflow.jobs j order by id").await, before, "{call}");
    }
    assert_eq!(db.one("select count(*) from pgflow.job_archive").await, "0");
    db.check().await;
}

/// What a worker says of a job that it holds, in JSON of its own: what cannot be is refused, and the job stays leased.
#[tokio::test]
async fn an_ending_that_cannot_be_is_refused_and_the_job_stays_leased() {
    let db = Db::new().await;
    submit(&db, "n", &["live"]).await;
    assert_eq!(super::claim(&db, &["n"], 1).await, ["live"]);
    let refused = [
        ("{}", "bad_verdict"),
        (r#"{"verdict": "explode"}"#, "bad_verdict"),
        (r#"{"verdict": "handed_over"}"#, "bad_need"),
        (r#"{"verdict": "handed_over", "need": ""}"#, "bad_name"),
        (r#"{"verdict": "handed_over", "need": "m", "delay": -1}"#, "bad_time"),
        (r#"{"verdict": "handed_over", "need": "m", "max_attempts": 0}"#, "bad_attempts"),
        (
            r#"{"verdict": "handed_over", "need": "m", "after": [{"id": "nobody"}]}"#,
            "unknown_dependency",
        ),
        (r#"{"verdict": "finished", "forks": [{"id": "f"}]}"#, "bad_need"),
        (r#"{"verdict": "finished", "forks": [{"id": "", "need": "n"}]}"#, "bad_name"),
    ];
    for (ending, problem) in refused {
        let call = format!(
            "select outcome, problem ->> 'problem' from pgflow.settle_job(
               'live', (select token::text from pgflow.jobs where id = 'live'), '{ending}')"
        );
        assert_eq!(db.rows(&call).await, [format!("refused|{problem}")], "{ending}");
        assert_eq!(live(&db).await, ["live:n:leased a1"], "{ending}");
    }
    // Whoever serves it is not known here: any name will do.
    let on = r#"{"verdict": "handed_over", "need": "a need of somebody else"}"#;
    let call = format!(
        "select outcome from pgflow.settle_job(
           'live', (select token::text from pgflow.jobs where id = 'live'), '{on}')"
    );
    assert_eq!(db.one(&call).await, "applied");
    assert_eq!(live(&db).await, ["live:a need of somebody else:ready a1"]);
    db.check().await;
}

/// Names are data.
#[tokio::test]
async fn names_are_never_sql() {
    let db = Db::new().await;
    let name = "x'; drop table pgflow.jobs; --\\ \u{1f600} \"";
    let list = super::list(&[name]);
    db.run("select pgflow.set_job_settings(notify => true)").await;
    db.run(&format!("select pgflow.submit_jobs({list}, {list}, keys => {list})")).await;
    assert_eq!(super::claim(&db, &[name], 1).await, [name]);
    super::finish(&db, &name.replace('\'', "''")).await;
    db.check().await;
}
