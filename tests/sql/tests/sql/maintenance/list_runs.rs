//! `list_runs`.

use crate::harness::{Db, define};

async fn ids(db: &Db, arguments: &str) -> Vec<String> {
    db.rows(&format!("select run_id from pgflow.list_runs({arguments})")).await
}

#[tokio::test]
async fn the_newest_come_first_without_payloads() {
    let db = Db::with(&(define("f", &["a", "b"]) + &define("g", &["a; max_attempts => 1"]))).await;
    let first = db.start("f", "{}").await;
    let second = db.start("g", "{}").await;
    let third = db.start("g", "{}").await;
    db.claim("g").await;
    second.fail("a", 0, "boom").await;
    db.run(&format!("select pgflow.cancel_run('{}')", third.id)).await;
    let sql = "select run_id, flow_slug, status, ended_at is not null, remaining_steps from pgflow.list_runs()";
    assert_eq!(
        db.rows(sql).await,
        [
            format!("{}|g|cancelled|t|1", third.id),
            format!("{}|g|failed|t|1", second.id),
            format!("{}|f|started|f|2", first.id)
        ]
    );
    assert_eq!(ids(&db, "array['f']").await, [first.id.to_string()]);
    assert_eq!(
        ids(&db, "statuses => array['failed', 'started']").await,
        [second.id.to_string(), first.id.to_string()]
    );
    assert_eq!(ids(&db, "array['nothing']").await, [""; 0]);
    let fourth = db.start("g", "{}").await;
    db.claim("g").await;
    fourth.complete("a", 0, "1").await;
    assert_eq!(ids(&db, "statuses => array['completed']").await, [fourth.id.to_string()]);
    assert_eq!(
        ids(&db, "statuses => array['completed', 'failed']").await,
        [fourth.id.to_string(), second.id.to_string()]
    );
}

#[tokio::test]
async fn pages_lose_and_repeat_nothing_even_at_one_moment() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["a"]))).await;
    let many = "select pgflow.start_flow(flow, to_jsonb(n)) from generate_series(1, 7) n, unnest(array['f', 'g']) flow";
    db.run(many).await;
    db.run(many).await;
    let mut seen = Vec::new();
    let mut cursor = "null, null".to_owned();
    loop {
        let page = db
            .rows(&format!(
                "select run_id, started_at from pgflow.list_runs(null, null, {cursor}, 3)"
            ))
            .await;
        let Some(last) = page.last() else { break };
        let (id, at) = last.split_once('|').expect("two columns");
        cursor = format!("'{at}', '{id}'");
        seen.extend(page.iter().map(|row| row.split_once('|').expect("two").0.to_owned()));
    }
    let all = db.rows("select run_id from pgflow.runs order by started_at desc, run_id desc").await;
    assert_eq!(seen, all);
    assert_eq!(seen.len(), 28);
}

#[tokio::test]
async fn a_name_means_all_its_versions() {
    let db =
        Db::with(&(define("f", &["a"]) + &define("f_v2", &["a"]) + &define("g", &["a"]))).await;
    db.start("f", "{}").await;
    db.run("select pgflow.add_flow_version('f', 2, 'f_v2')").await;
    db.start("f", "{}").await;
    db.start("g", "{}").await;
    let flows = "select flow_slug from pgflow.list_runs(array['f'])";
    assert_eq!(db.rows(flows).await, ["f_v2", "f"]);
}

#[tokio::test]
async fn a_page_has_bounds() {
    let db = Db::with(&define("f", &[])).await;
    db.run("select count(*) from generate_series(1, 1100) n, lateral pgflow.start_flow('f', to_jsonb(n))").await;
    for (quantity, rows) in [("null", 50), ("-3", 0), ("0", 0), ("7", 7), ("5000", 1000)] {
        assert_eq!(ids(&db, &format!("qty => {quantity}")).await.len(), rows, "{quantity}");
    }
    assert_eq!(ids(&db, "started_before => '2000-01-01'").await.len(), 0);
}

/// How many pages of the database a statement reads, once it is planned.
async fn pages_read(db: &Db, sql: &str) -> u32 {
    let mut session = db.session().await;
    let explain = format!("explain (analyze, buffers, costs off, timing off, summary off) {sql}");
    session.run(&explain).await; // the first call plans
    let plan = session.rows(&explain).await.join(" ");
    let hits = plan.split("shared hit=").nth(1).and_then(|rest| rest.split([' ', ')']).next());
    hits.unwrap_or_else(|| panic!("no buffers: {plan}")).parse().expect("a number")
}

/// Three thousand runs, a second apart and the last an hour old. All but three are completed.
async fn with_history() -> Db {
    let db = Db::with(&define("f", &[])).await;
    db.run("select count(*) from generate_series(1, 3000) n, lateral pgflow.start_flow('f', to_jsonb(n))")
        .await;
    db.run(
        "update pgflow.runs set started_at = started_at - interval '1 hour' - input::int * interval '1 s',
            completed_at = completed_at - interval '1 hour' - input::int * interval '1 s'",
    )
    .await;
    db.run(
        "update pgflow.runs set completed_at = null, output = null,
            status = case input::int when 2990 then 'failed' when 2991 then 'cancelled' else 'started' end,
            failed_at = case input::int when 2990 then now() end,
            cancelled_at = case input::int when 2991 then now() end
          where input::int between 2990 and 2992",
    )
    .await;
    db.run(
        "select pgmq.send('f', jsonb_build_object('run_id', run_id)) from pgflow.runs where status = 'started'",
    )
    .await;
    db.run("vacuum analyze pgflow.runs").await;
    db
}

/// However many runs there are, a page reads its own rows only.
#[tokio::test]
async fn a_page_is_read_from_an_index() {
    let db = with_history().await;
    let all = "select * from pgflow.list_runs(array['f'], null, now(), null, 20)";
    let hits = pages_read(&db, all).await;
    assert!(hits < 60, "{hits} pages");
}

/// Also those of a status that few have, or nobody. All of them are thousands of runs down the list.
#[tokio::test]
async fn rare_statuses_are_not_looked_for_in_history() {
    let db = with_history().await;
    for status in ["failed", "cancelled", "started"] {
        let page = format!("statuses => array['{status}']");
        assert_eq!(ids(&db, &page).await.len(), 1, "{status}");
        let hits = pages_read(&db, &format!("select * from pgflow.list_runs({page})")).await;
        // Whether a run goes on is also asked of the 500 newest.
        assert!(hits < if status == "started" { 700 } else { 30 }, "{status}: {hits} pages");
    }
    let all = db
        .one("select count(*) from pgflow.list_runs(qty => 1000, started_since => '2000-01-01')")
        .await;
    assert_eq!(all, "1000");
}

/// What was long ago is not read to say what happened lately.
#[tokio::test]
async fn statistics_are_not_looked_for_in_history() {
    let db = with_history().await;
    for sql in [
        "select * from pgflow.get_activity(null, '10 minutes')",
        "select * from pgflow.get_step_statistics('f', '10 minutes')",
    ] {
        let hits = pages_read(&db, sql).await;
        assert!(hits < 30, "{sql}: {hits} pages");
    }
}

#[tokio::test]
async fn pages_of_rare_statuses_lose_and_repeat_nothing() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    // Several at one moment.
    for _ in 0..3 {
        db.run("select pgflow.start_flow('f', to_jsonb(n)) from generate_series(1, 4) n").await;
    }
    db.run("select pgflow.cancel_run(run_id) from pgflow.runs where input::int = 2").await;
    for task in db.claim_up_to("f", 3).await {
        db.run(&format!("select pgflow.fail_task('{}', 'a', 0, 'boom')", task.run)).await;
    }
    for statuses in [
        "{failed}",
        "{cancelled}",
        "{started}",
        "{failed, started}",
        "{failed, cancelled, started}",
    ] {
        let all = db
            .rows(&format!(
                "select run_id from pgflow.runs where status = any ('{statuses}') order by started_at desc, run_id desc"
            ))
            .await;
        assert!(all.len() >= 3, "{statuses}: {all:?}");
        let (mut seen, mut cursor) = (Vec::new(), "null, null".to_owned());
        loop {
            let page = format!(
                "select run_id, started_at from pgflow.list_runs(null, '{statuses}', {cursor}, 2)"
            );
            let page = db.rows(&page).await;
            let Some(last) = page.last() else { break };
            let (id, at) = last.split_once('|').expect("two columns");
            cursor = format!("'{at}', '{id}'");
            seen.extend(page.iter().map(|row| row.split_once('|').expect("two").0.to_owned()));
        }
        assert_eq!(seen, all, "{statuses}");
    }
}

/// Somebody else's message in a queue does not hide runs.
#[tokio::test]
async fn runs_are_found_beside_messages_that_are_not_ours() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(
        "select pgmq.send('f', m) from unnest(array['{}', '7', '{\"run_id\": \"x\"}']::jsonb[]) m",
    )
    .await;
    assert_eq!(ids(&db, "statuses => array['started']").await, [run.id.to_string()]);
}
