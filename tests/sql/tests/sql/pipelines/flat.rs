//! What a claim costs does not depend on how much is queued.

use crate::harness::{Db, long};

/// Blocks that a statement touches, functions that it calls included.
pub(crate) async fn blocks(db: &Db, statement: &str) -> u64 {
    // The first call of a session plans.
    let mut session = db.session().await;
    let mut last = 0;
    for _ in 0..2 {
        session.run("begin").await;
        let plan =
            session.rows(&format!("explain (analyze, buffers, timing off) {statement}")).await;
        session.run("rollback").await;
        let line = plan
            .iter()
            .find(|line| line.trim().starts_with("Buffers:"))
            .expect("a line about blocks");
        let numbers =
            line.split(|c: char| !c.is_ascii_digit()).filter_map(|it| it.parse::<u64>().ok());
        last = numbers.sum();
    }
    last
}

async fn push(db: &Db, first: u32, last: u32) {
    db.run(&format!(
        "select count(*) from pgflow.submit_jobs(
           array(select 'm' || n from generate_series({first}, {last}) n), array_fill('q'::text, array[{last} - {first} + 1]),
           array_fill('\"x\"'::jsonb, array[{last} - {first} + 1]))"
    ))
    .await;
    db.run(&format!(
        "select pgflow.keep_messages(array(select 'm' || n from generate_series({first}, {last}) n),
           array(select 'key ' || n % 10000 from generate_series({first}, {last}) n), array_fill(null::jsonb, array[{last} - {first} + 1]))"
    ))
    .await;
    for table in ["jobs", "job_messages"] {
        db.run(&format!("vacuum analyze pgflow.{table}")).await;
    }
}

#[tokio::test]
async fn looks_and_leases_are_flat() {
    let db = Db::new().await;
    db.run("select pgflow.set_capacity('gpu', 1)").await;
    let calls = [
        "select * from pgflow.look_at_queue('w', 'q', '{resource}', '{gpu}', 100)",
        "select * from pgflow.look_at_queue('w', 'q', '{resource}', '{gpu}', 100, true)",
        "select * from pgflow.lease_messages('w', array(select 'm' || n from generate_series(1, 100) n), 60)",
    ];
    push(&db, 1, 2_000).await;
    let mut few = Vec::new();
    for call in calls {
        few.push(blocks(&db, call).await);
    }
    push(&db, 2_001, if long() { 200_000 } else { 40_000 }).await;
    for (call, few) in calls.into_iter().zip(few) {
        let many = blocks(&db, call).await;
        println!("{few} blocks, then {many}: {call}");
        assert!(few > 10 && many < few * 2, "{few} blocks, then {many}: {call}");
    }
}
