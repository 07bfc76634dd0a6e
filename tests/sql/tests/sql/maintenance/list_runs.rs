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

/// However many runs there are, a page reads its own rows only.
#[tokio::test]
async fn a_page_is_read_from_an_index() {
    let db = Db::with(&define("f", &[])).await;
    db.run("select count(*) from generate_series(1, 3000) n, lateral pgflow.start_flow('f', to_jsonb(n))")
        .await;
    db.run("update pgflow.runs set started_at = started_at - input::int * interval '1 s'").await;
    db.run("vacuum pgflow.runs").await;
    let mut session = db.session().await;
    let explain = "explain (analyze, buffers, costs off, timing off, summary off)
        select * from pgflow.list_runs(array['f'], null, now(), null, 20)";
    session.run(explain).await; // the first call plans
    let plan = session.rows(explain).await.join(" ");
    let hits = plan.split("shared hit=").nth(1).and_then(|rest| rest.split([' ', ')']).next());
    let hits: u32 = hits.expect("buffers").parse().expect("a number");
    assert!(hits < 60, "{hits} pages: {plan}");
}
