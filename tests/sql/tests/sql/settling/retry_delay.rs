//! How long a retry waits.

use crate::harness::{Db, define};

/// How long the retry after so many attempts waits, as `a:seconds`.
async fn wait(db: &Db, base_delay: i64, attempts: i64) -> String {
    let flow = format!("f{base_delay}_{attempts}");
    let options = format!("max_attempts => 100000, base_delay => {base_delay}");
    db.run(&format!("select pgflow.create_flow('{flow}', {options})")).await;
    db.run(&format!("select pgflow.add_step('{flow}', 'a')")).await;
    let run = db.start(&flow, "{}").await;
    let attempted = format!("attempts_count = {attempts} - 1 where run_id = '{}'", run.id);
    db.run(&format!("update pgflow.step_tasks set {attempted}")).await;
    db.claim(&flow).await;
    let fail = format!("select pgflow.fail_task('{}', 'a', 0, 'boom')", run.id);
    let hidden = db.hides(&flow, &fail).await.remove(0);
    assert_eq!(run.task("a", 0, "status, attempts_count").await, format!("queued|{attempts}"));
    hidden
}

#[tokio::test]
async fn calculate_retry_delay_doubles() {
    let db = Db::new().await;
    for (base, attempts, delay) in [
        ("5", 0, "5"),
        ("5", 1, "10"),
        ("5", 2, "20"),
        ("0", 9, "0"),
        ("1", 10, "1024"),
        ("1.5", 0, "1"),
        ("1.5", 1, "3"),
        ("0.3", 1, "0"),
        ("0.3", 2, "1"),
    ] {
        let call = format!("select pgflow.calculate_retry_delay({base}, {attempts})");
        assert_eq!(db.one(&call).await, delay, "{call}");
    }
}

#[tokio::test]
async fn calculate_retry_delay_never_overflows() {
    let db = Db::new().await;
    for (base, attempts) in [("1", 31), ("5", 40), ("2147483647", 2), ("3600", 60), ("1", 100_000)]
    {
        let call = format!("select pgflow.calculate_retry_delay({base}, {attempts})");
        assert_eq!(db.one(&call).await, "2147483647", "{call}");
    }
}

#[tokio::test]
async fn the_first_retry_waits_twice_the_base() {
    let db = Db::new().await;
    for (attempt, seconds) in [(1, "a:10"), (2, "a:20"), (3, "a:40")] {
        assert_eq!(wait(&db, 5, attempt).await, seconds);
    }
    db.check().await;
}

#[tokio::test]
async fn a_delay_of_zero_is_no_delay() {
    let db = Db::new().await;
    wait(&db, 0, 1).await;
    assert_eq!(db.claim("f0_1").await.len(), 1);
    db.check().await;
}

#[tokio::test]
async fn no_delay_is_longer_than_a_day() {
    let db = Db::new().await;
    for (base, attempt) in [(3600, 5), (5, 60), (2_147_483_647, 1), (1, 99_999)] {
        assert_eq!(wait(&db, base, attempt).await, "a:86400", "{base} after {attempt}");
    }
    db.check().await;
}

#[tokio::test]
async fn the_steps_base_delay_wins() {
    let db = Db::with("select pgflow.create_flow('f', base_delay => 100)").await;
    db.run("select pgflow.add_step('f', 'a', base_delay => 3)").await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let fail = format!("select pgflow.fail_task('{}', 'a', 0, 'boom')", run.id);
    assert_eq!(db.hides("f", &fail).await, ["a:6"]);
    db.check().await;
}

#[tokio::test]
async fn a_waiting_retry_cannot_be_had_early() {
    let db = Db::new().await;
    wait(&db, 50, 1).await;
    assert_eq!(db.claim("f50_1").await.len(), 0);
    db.wake("f50_1").await;
    assert_eq!(db.claim("f50_1").await[0].attempt, 2);
    db.check().await;
}

#[tokio::test]
async fn jitter_is_off_unless_asked_for() {
    let db = Db::with(&define("f", &["m map; base_delay => 100"])).await;
    let run = db.start("f", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]").await;
    db.claim("f").await;
    for index in 0..10 {
        run.fail("m", index, "boom").await;
    }
    let spread = "select extract(epoch from max(vt) - min(vt)) < 40 from pgmq.q_f";
    assert_eq!(db.one(spread).await, "t");
    db.run("select pgflow.configure_flow('f', retry_jitter => 0.5)").await;
    db.wake("f").await;
    db.claim("f").await;
    for index in 0..10 {
        run.fail("m", index, "boom").await;
    }
    let spread = "select extract(epoch from max(vt) - min(vt)) > 10,
        min(vt) > clock_timestamp() + interval '390 s', max(vt) < clock_timestamp() + interval '601 s'
        from pgmq.q_f";
    assert_eq!(db.one(spread).await, "t|t|t", "400 s and up to a half more");
    db.check().await;
}
