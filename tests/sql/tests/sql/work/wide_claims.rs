//! What a batch costs does not depend on how wide its map is, even if it was planned on empty tables.

use crate::harness::{Db, Session, define};

async fn claim_and_complete(session: &mut Session, width: u32) -> [u32; 2] {
    let elements = format!("(select jsonb_agg(n) from generate_series(1, {width}) n)");
    session.run(&format!("select pgflow.start_flow('f', {elements})")).await;
    // The last elements: a search by a part of the key would pass all before them.
    let before = width.saturating_sub(100);
    session.run(&format!("select from pgflow.claim_tasks(array['f'], {before})")).await;
    let claim = "create temp table held as select * from pgflow.claim_tasks(array['f'], 100)";
    let claimed = session.pages(claim).await;
    let complete = "select pgflow.complete_tasks(array_agg(run_id), array_agg(step_slug), array_agg(task_index),
        array_agg(input), array_agg(attempt)) from held";
    let completed = session.pages(complete).await;
    session.run("drop table held; select pgflow.cancel_run(run_id) from pgflow.runs").await;
    [claimed, completed]
}

fn assert_same(narrow: [u32; 2], wide: [u32; 2]) {
    for (narrow, wide) in narrow.iter().zip(wide) {
        assert!(wide < narrow * 2, "{wide} pages instead of {narrow}");
    }
}

#[tokio::test]
async fn a_batch_of_a_wide_map_touches_as_many_pages_as_one_of_a_narrow() {
    let db = Db::with(&define("f", &["m map"])).await;
    let mut session = db.session().await;
    claim_and_complete(&mut session, 1).await; // plans everything, on tables with next to nothing in them
    let narrow = claim_and_complete(&mut session, 200).await;
    assert_same(narrow, claim_and_complete(&mut session, 4000).await);
    db.check().await;
}

/// The second session plans on tables that have grown and were never analyzed.
#[tokio::test]
async fn so_it_does_when_planned_on_the_wide_map() {
    let db = Db::with(&define("f", &["m map"])).await;
    let narrow = claim_and_complete(&mut db.session().await, 200).await;
    assert_same(narrow, claim_and_complete(&mut db.session().await, 4000).await);
    db.check().await;
}

/// Tables that were vacuumed while they were empty have no rows, as the planner sees them.
#[tokio::test]
async fn so_it_reads_when_planned_on_vacuumed_empty_tables() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.run("vacuum analyze").await;
    let mut session = db.session().await;
    let elements = "(select jsonb_agg(n) from generate_series(1, 4000) n)";
    let claim = "create temp table held as select * from pgflow.claim_tasks(array['f'], 100)";
    let keys = "array_agg(run_id), array_agg(step_slug), array_agg(task_index)";
    let complete = format!("select pgflow.complete_tasks({keys}, array_agg(input)) from held");
    let fail = format!("select pgflow.fail_tasks({keys}, array_agg('e'::text)) from held");
    // Plans everything, with a handful of tasks there.
    session.run("select pgflow.start_flow('f', '[1, 2, 3, 4]')").await;
    for (call, count) in [(&complete, 2), (&fail, 1)] {
        session.run(&claim.replace("100", &count.to_string())).await;
        session.run(call).await;
        session.run("drop table held").await;
    }
    session.run("select pgflow.cancel_run(run_id) from pgflow.runs").await;
    session.run(&format!("select pgflow.start_flow('f', {elements})")).await;
    for call in [claim, &complete, &complete, "drop table held", claim, &fail, &fail] {
        let read = session.entries_read(call).await;
        println!("{read} entries: {call}");
        assert!(read < 3_500, "{read} entries of indexes for a hundred tasks: {call}");
    }
    db.check().await;
}
