//! `claim_tasks` with quotas per step.

use crate::harness::{Db, define};

async fn claim(db: &Db, quantity: u32, flows: &str, steps: &str, quotas: &str) -> Vec<String> {
    let limits = format!("array[{flows}]::text[], array[{steps}]::text[], array[{quotas}]::int[]");
    let call = format!("pgflow.claim_tasks(array['f', 'g'], {quantity}, null, {limits})");
    db.rows(&format!(
        "select flow_slug || '.' || step_slug || ':' || count(*) from {call} group by flow_slug, step_slug order by 1"
    ))
    .await
}

async fn database() -> Db {
    let db = Db::with(&(define("f", &["m map", "n map", "a"]) + &define("g", &["m map"]))).await;
    db.start("f", "[1, 2, 3, 4, 5]").await;
    db.start("g", "[1, 2, 3]").await;
    db
}

#[tokio::test]
async fn a_limited_step_gives_no_more_and_others_fill_up() {
    let db = database().await;
    let claimed = claim(&db, 100, "'f'", "'m'", "2").await;
    assert_eq!(claimed, ["f.a:1", "f.m:2", "f.n:5", "g.m:3"]);
    let claimed = claim(&db, 100, "'f'", "'m'", "0").await;
    assert_eq!(claimed, [""; 0]);
    let claimed = claim(&db, 100, "'f'", "'m'", "9").await;
    assert_eq!(claimed, ["f.m:3"]);
    db.check().await;
}

#[tokio::test]
async fn several_steps_of_several_flows_are_limited_apart() {
    let db = database().await;
    let claimed = claim(&db, 100, "'f', 'g', 'f'", "'m', 'm', 'n'", "1, 2, 0").await;
    assert_eq!(claimed, ["f.a:1", "f.m:1", "g.m:2"]);
    db.check().await;
}

#[tokio::test]
async fn any_number_may_be_asked_for() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    db.start("f", "{}").await;
    let quotas = "null, array['f', 'f'], array['a', 'b'], array[2147483647, -2147483648]";
    for (qty, claimed) in [("-2147483648", "0"), ("null", "0"), ("2147483647", "1")] {
        let claim = format!("select count(*) from pgflow.claim_tasks(array['f'], {qty}, {quotas})");
        assert_eq!(db.one(&claim).await, claimed, "{qty}");
    }
    db.check().await;
}

#[tokio::test]
async fn the_whole_is_limited_too() {
    let db = database().await;
    let total = "select count(*) from pgflow.claim_tasks(array['f', 'g'], 4, null, array['f', 'f'], array['m', 'n'], array[3, 3])";
    assert_eq!(db.one(total).await, "4");
    db.check().await;
}

#[tokio::test]
async fn of_two_quotas_the_smaller_counts_and_none_is_no_limit() {
    let db = database().await;
    let claimed =
        claim(&db, 100, "'f', 'f', 'f', 'f'", "'m', 'm', 'n', 'a'", "3, 1, -5, null").await;
    assert_eq!(claimed, ["f.a:1", "f.m:1", "g.m:3"]);
    db.check().await;
}

#[tokio::test]
async fn a_queue_named_twice_has_one_quota() {
    let db = database().await;
    let call = "select count(*) from pgflow.claim_tasks(array['g', 'g'], 9, null, array['g'], array['m'], array[1])";
    assert_eq!(db.one(call).await, "1");
}

#[tokio::test]
async fn what_is_not_taken_stays_as_it_was() {
    let db = database().await;
    let untouched = "select count(*) from pgmq.q_f where read_ct = 0 and vt <= clock_timestamp()";
    let before = db.one(untouched).await;
    claim(&db, 100, "'f', 'f'", "'m', 'n'", "0, 0").await;
    assert_eq!((before.as_str(), db.one(untouched).await.as_str()), ("11", "10"));
    db.check().await;
}

/// A full step with more messages than one call looks at.
#[tokio::test]
async fn a_step_behind_thousands_of_a_full_one_is_found() {
    let db = Db::with(&(define("f", &["m map"]) + &define("g", &["a"]))).await;
    db.run("select pgflow.start_flow('f', (select jsonb_agg(n) from generate_series(1, 3000) n))")
        .await;
    db.run("select pgflow.add_step('f', 'late')").await;
    let run = db.start("f", "[1]").await;
    let mut claimed = Vec::new();
    for _ in 0..50 {
        claimed = claim(&db, 10, "'f'", "'m'", "1").await;
        if claimed.iter().any(|row| row == "f.late:1") {
            break;
        }
    }
    assert!(claimed.contains(&"f.late:1".to_owned()), "{claimed:?}");
    assert_eq!(run.task("late", 0, "status").await, "started");
    db.check().await;
}

/// The same among single steps, which are not set back as the tasks of a wide map are.
#[tokio::test]
async fn a_step_behind_hundreds_of_runs_at_a_full_one_is_found() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgflow.start_flow('f', to_jsonb(n)) from generate_series(1, 1000) n").await;
    db.run("select pgflow.add_step('f', 'late')").await;
    let run = db.start("f", "1").await;
    for _ in 0..50 {
        claim(&db, 10, "'f'", "'a'", "1").await;
    }
    assert_eq!(run.task("late", 0, "status").await, "started");
    db.check().await;
}

/// Looking further does not give the quota twice.
#[tokio::test]
async fn the_quota_is_one_for_both_looks() {
    let db = Db::with(&define("f", &["m map"])).await;
    let many =
        "select pgflow.start_flow('f', (select jsonb_agg(n) from generate_series(1, 400) n))";
    db.run(many).await;
    db.run("update pgmq.q_f set vt = vt - interval '1 day'").await;
    db.run(many).await;
    assert_eq!(claim(&db, 10, "'f'", "'m'", "2").await, ["f.m:2"]);
    db.check().await;
}

#[tokio::test]
async fn two_sessions_never_share_what_they_pick() {
    let db = database().await;
    let (mut one, mut two) = (db.session().await, db.session().await);
    two.run("set lock_timeout = '2s'").await;
    let call = "select task_index from pgflow.claim_tasks(array['g'], 9, null, array['g'], array['m'], array[2])";
    one.run("begin").await;
    let (first, second) = (one.rows(call).await, two.rows(call).await);
    one.run("commit").await;
    assert_eq!((first.len(), second.len()), (2, 1));
    assert!(!first.contains(&second[0]));
    db.check().await;
}

#[tokio::test]
async fn arrays_that_do_not_belong_together_are_refused() {
    let db = database().await;
    let call =
        "select pgflow.claim_tasks(array['f'], 1, null, array['f'], array['m', 'n'], array[1])";
    let failure = db.error(call).await;
    assert_eq!(failure.code, "2202E");
    assert!(
        failure.message.contains("1 limited_flows, 2 limited_steps, 1 limited_quotas"),
        "{failure}"
    );
    assert_eq!(
        db.error("select pgflow.claim_tasks(array['f'], 1, null, array['f'])").await.code,
        "2202E"
    );
}
