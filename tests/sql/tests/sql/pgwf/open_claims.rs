//! A `get_work` whose transaction stays open holds what it took, and nothing else.

use super::{lease, status, submit};
use crate::harness::{Db, Session};

/// A session that waits for nobody.
async fn impatient(db: &Db) -> Session {
    let mut session = db.session().await;
    session.run("set lock_timeout = '2s'").await;
    session
}

async fn open_get_work(db: &Db, arguments: &str) -> (Session, Vec<String>) {
    let mut open = db.session().await;
    let work = format!("begin; select job_id from pgwf.get_work('o', {arguments})");
    let taken = open.rows(&work).await;
    (open, taken)
}

fn work(need: &str, limit: u32) -> String {
    format!("select job_id from pgwf.get_work('w', array['{need}'], 60, {limit})")
}

/// Ten jobs of need `b` that a claim has to bring back first.
async fn due(db: &Db, how: &str) {
    db.run("select pgwf.submit_job('j' || i, 'w', 'b') from generate_series(0, 9) i").await;
    match how {
        "sleeping" => {
            db.run("update pgflow.jobs set state = 'sleeping', wake_at = created_at").await;
        }
        "lapsed" => {
            db.run("select pgwf.get_work('dead', array['b'], 60, 10)").await;
            db.run("update pgflow.jobs set lease_until = created_at, look_at = created_at").await;
        }
        other => unreachable!("{other}"),
    }
}

const TEN: [&str; 10] = ["j0", "j1", "j2", "j3", "j4", "j5", "j6", "j7", "j8", "j9"];

#[tokio::test]
async fn a_lease_that_was_extended_is_not_held() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "y", "z"]).await;
    let (x, y) = (lease(&db, "n", "x").await, lease(&db, "n", "y").await);
    for (id, token) in [("x", &x), ("y", &y)] {
        db.run(&format!("select pgwf.extend_lease('{id}', '{token}', 'w', 600)")).await;
    }
    // As it is for one that was extended before it was to be looked at.
    db.run("update pgflow.jobs set look_at = created_at where state = 'leased'").await;
    let (mut open, taken) = open_get_work(&db, "array['n'], 60, 9").await;
    assert_eq!(taken, ["z"]);
    let mut other = impatient(&db).await;
    other.run(&format!("select pgwf.extend_lease('x', '{x}', 'w', 600)")).await;
    other.run(&format!("select pgflow.beat_jobs(array['x'], array['{x}'], 600)")).await;
    other.run(&format!("select pgwf.complete_job('y', '{y}', 'w')")).await;
    open.run("commit").await;
    assert_eq!(
        db.one("select look_at > clock_timestamp() from pgflow.jobs where id = 'x'").await,
        "t"
    );
    db.check().await;
}

/// What ran out is somebody else's as soon as a claim has it: who had it is told so, and does not wait for the claim's end.
#[tokio::test]
async fn a_lease_that_was_taken_is_lost_at_once() {
    let db = Db::new().await;
    submit(&db, "n", &["lost", "kept"]).await;
    let lost = lease(&db, "n", "lost").await;
    let kept = lease(&db, "n", "kept").await;
    super::lapse(&db, "lost").await;
    let (mut open, taken) = open_get_work(&db, "array['n'], 60, 9").await;
    assert_eq!(taken, ["lost"]);
    let mut other = impatient(&db).await;
    let both = format!("array['lost', 'kept'], array['{lost}', '{kept}']");
    assert_eq!(
        other.rows(&format!("select outcome from pgflow.beat_jobs({both}, 60)")).await,
        ["lost", "extended"]
    );
    for call in [
        format!("extend_lease('lost', '{lost}', 'w')"),
        format!("complete_job('lost', '{lost}', 'w')"),
    ] {
        assert_eq!(other.error(&format!("select pgwf.{call}")).await.code, "P0001", "{call}");
    }
    assert_eq!(
        other.rows(&format!("select outcome from pgflow.finish_jobs({both})")).await,
        ["fenced", "applied"]
    );
    open.run("commit").await;
    db.check().await;
}

#[tokio::test]
async fn what_waits_and_has_expired_is_left_alone() {
    let db = Db::new().await;
    submit(&db, "d", &["dep"]).await;
    submit(&db, "n", &["z"]).await;
    let dep = lease(&db, "d", "dep").await;
    let over = "now() - interval '1 day'";
    db.run(&format!(
        "select pgwf.submit_job('waits', 'w', 'n', '{{dep}}', p_expires_at => {over});
         select pgwf.submit_job('other', 'w', 'm', p_expires_at => {over})"
    ))
    .await;
    let (mut open, taken) = open_get_work(&db, "array['n'], 60, 9").await;
    assert_eq!(taken, ["z"]);
    let mut other = impatient(&db).await;
    other.run(&format!("select pgwf.complete_job('dep', '{dep}', 'w')")).await;
    other.run("select pgwf.complete_unheld_job('other', 'ops')").await;
    open.run("commit").await;
    db.check().await;
}

#[tokio::test]
async fn claims_of_other_needs_get_all_that_is_due() {
    for how in ["sleeping", "lapsed"] {
        let db = Db::new().await;
        due(&db, how).await;
        let (mut open, taken) = open_get_work(&db, "array['a']").await;
        assert_eq!(taken, [""; 0]);
        assert_eq!(db.rows(&work("b", 10)).await, TEN, "{how}");
        open.run("commit").await;
        db.check().await;
    }
}

#[tokio::test]
async fn a_claim_brings_back_no_more_than_it_takes() {
    for how in ["sleeping", "lapsed"] {
        let db = Db::new().await;
        due(&db, how).await;
        let (mut first, taken) = open_get_work(&db, "array['b']").await;
        assert_eq!(taken, ["j0"], "{how}");
        let (mut second, taken) = open_get_work(&db, "array['b'], 60, 2").await;
        assert_eq!(taken, ["j1", "j2"], "{how}");
        assert_eq!(db.rows(&work("b", 10)).await, TEN[3..], "{how}");
        first.run("commit").await;
        second.run("rollback").await;
        assert_eq!(db.rows(&work("b", 10)).await, TEN[1..3], "{how}");
        db.check().await;
    }
}

/// The best first, whether it was ready or is brought back.
#[tokio::test]
async fn what_is_brought_back_keeps_its_place() {
    let db = Db::new().await;
    due(&db, "sleeping").await;
    db.run("update pgflow.jobs set state = 'ready' where id in ('j1', 'j4')").await;
    let (mut open, taken) = open_get_work(&db, "array['b'], 60, 2").await;
    assert_eq!(taken, TEN[..2]);
    assert_eq!(db.rows(&work("b", 10)).await, TEN[2..]);
    open.run("commit").await;
    db.check().await;
}

/// Who changes the line of a key that a claim has leaves a note, and the job's turn comes.
#[tokio::test]
async fn a_key_that_is_taken_holds_up_nobody() {
    let db = Db::new().await;
    submit(&db, "d", &["dep"]).await;
    let dep = lease(&db, "d", "dep").await;
    let keyed = |id: &str, more: &str| {
        format!("select pgwf.submit_job('{id}', 'w', 'n', p_singleton_key => 'k'{more})")
    };
    db.run(&keyed("first", "")).await;
    db.run(&keyed("released", ", p_wait_for => '{dep}'")).await;
    for end in ["commit", "rollback"] {
        let db = &db;
        let (mut open, taken) = open_get_work(db, "array['n'], 60, 9").await;
        assert_eq!(taken, ["first"]);
        let mut other = impatient(db).await;
        if end == "rollback" {
            other.run(&format!("select pgwf.complete_job('dep', '{dep}', 'w')")).await;
        }
        other.run(&keyed(&format!("new-{end}"), "")).await;
        db.check().await;
        assert_eq!(other.rows(&work("n", 9)).await, [""; 0]);
        open.run(end).await;
        if end == "commit" {
            let held = db.one("select lease_id from pgwf.jobs where job_id = 'first'").await;
            db.run(&format!("select pgwf.reschedule_job('first', '{held}', 'w', 'n')")).await;
        }
        db.check().await;
    }
    for id in ["first", "released", "new-commit", "new-rollback"] {
        let token = lease(&db, "n", id).await;
        db.check().await;
        db.run(&format!("select pgwf.complete_job('{id}', '{token}', 'w')")).await;
    }
    assert_eq!(db.one("select (select count(*) from pgflow.job_keys) + (select count(*) from pgflow.job_key_notes)").await, "0");
    db.check().await;
}

#[tokio::test]
async fn two_who_hold_each_others_keys_do_not_wait() {
    let db = Db::new().await;
    for key in ["a", "b"] {
        let job =
            format!("select pgwf.submit_job('{key}', 'w', '{key}', p_singleton_key => '{key}')");
        db.run(&job).await;
    }
    let submission = |id: &str, key: &str| {
        format!("select pgwf.submit_job('{id}', 'w', 'n', p_singleton_key => '{key}')")
    };
    let (mut one, mut other) = (impatient(&db).await, impatient(&db).await);
    one.run("begin; select pgwf.get_work('w', array['a'])").await;
    other.run("begin; select pgwf.get_work('w', array['b'])").await;
    one.run(&submission("1", "b")).await;
    other.run(&submission("2", "a")).await;
    // Nor if there were no such keys before.
    one.run(&submission("3", "new")).await;
    other.run(&submission("4", "newer")).await;
    one.run(&submission("5", "newer")).await;
    other.run(&submission("6", "new")).await;
    one.run("commit").await;
    other.run("commit").await;
    db.check().await;
    assert_eq!(db.rows(&work("n", 9)).await, ["3", "4"]);
    db.run("select pgflow.finish_jobs(array_agg(id), array_agg(token::text)) from pgflow.jobs where state = 'leased'").await;
    assert_eq!(db.rows(&work("n", 9)).await, ["1", "2", "5", "6"]);
    db.check().await;
}

/// A worker that completes one after the other in a transaction waits for nobody's waiters; the sweep tells those.
#[tokio::test]
async fn completions_in_one_transaction_do_not_wait_for_each_other() {
    let db = Db::new().await;
    submit(&db, "d", &["d1", "d2", "d3", "d4"]).await;
    db.run("select pgwf.submit_job('w1', 'w', 'n', '{d1,d4}'); select pgwf.submit_job('w2', 'w', 'n', '{d2,d3}')").await;
    db.run("select pgwf.get_work('w', array['d'], 60, 9)").await;
    let complete = |id: &str| {
        format!(
            "select pgwf.complete_job(job_id, lease_id, 'w') from pgwf.jobs where job_id = '{id}'"
        )
    };
    let (mut one, mut other) = (impatient(&db).await, impatient(&db).await);
    one.run(&format!("begin; {}", complete("d1"))).await;
    other.run(&format!("begin; {}", complete("d3"))).await;
    one.run(&complete("d2")).await;
    other.run(&complete("d4")).await;
    one.run("commit").await;
    other.run("commit").await;
    db.check().await;
    db.run("select pgflow.sweep_jobs()").await;
    assert_eq!(db.rows(&work("n", 9)).await, ["w1", "w2"]);
    db.check().await;
}

/// Clients that never sweep: the next call that looks for work tells those who were not told. Nobody waits for a claim that stays open.
#[tokio::test]
async fn the_next_claim_tells_who_was_not_told() {
    for call in [
        "get_work('w', array['other'])",
        "get_work('w', array['m'])",
        "archive_cancelled_jobs('w')",
    ] {
        let db = Db::new().await;
        submit(&db, "d", &["d1", "d2", "d3", "d4", "e1", "e2", "e3"]).await;
        submit(&db, "m", &["m"]).await;
        db.run("select pgwf.submit_job('w1', 'w', 'n', '{d1,d4}'); select pgwf.submit_job('w2', 'w', 'n', '{d2,d3}')").await;
        db.run("select pgwf.submit_job('w3', 'w', 'n', '{e1,e2,e3}')").await;
        db.run("select pgwf.get_work('w', array['d'], 60, 9)").await;
        let complete = |id: &str| {
            format!(
                "select pgwf.complete_job(job_id, lease_id, 'w') from pgwf.jobs where job_id = '{id}'"
            )
        };
        let (mut one, mut other) = (impatient(&db).await, impatient(&db).await);
        one.run(&format!("begin; {}; {}", complete("d1"), complete("e1"))).await;
        other.run(&format!("begin; {}", complete("d3"))).await;
        one.run(&complete("d2")).await;
        other.run(&format!("{}; {}", complete("d4"), complete("e2"))).await;
        // What somebody holds is left, and not waited for.
        let mut third = impatient(&db).await;
        third.run(&format!("select pgwf.{call}")).await;
        one.run("commit").await;
        other.run("commit").await;
        assert_eq!(
            (status(&db, "w1").await, status(&db, "w2").await),
            ("PENDING_JOBS".into(), "PENDING_JOBS".into()),
            "{call}"
        );
        third.run(&format!("begin; select pgwf.{call}")).await;
        // w3 waits for one more, which is not kept from ending.
        impatient(&db).await.run(&complete("e3")).await;
        third.run("commit").await;
        assert_eq!(
            (status(&db, "w1").await, status(&db, "w2").await),
            ("READY".into(), "READY".into()),
            "{call}"
        );
        assert_eq!(db.rows(&work("n", 9)).await, ["w1", "w2", "w3"], "{call}");
        assert_eq!(db.one("select count(*) from pgflow.job_wakes").await, "0");
        db.check().await;
    }
}

/// A client that is stricter does not see all that waits: it leaves that to others.
#[tokio::test]
async fn a_strict_claim_forgets_nobody() {
    let db = Db::new().await;
    submit(&db, "d", &["dep"]).await;
    db.run("select pgwf.get_work('w', array['d'])").await;
    let mut strict = db.session().await;
    strict.run("begin isolation level repeatable read; select count(*) from pgwf.jobs").await;
    db.run("select pgwf.submit_job('late', 'w', 'n', '{dep}')").await;
    strict
        .run("select pgwf.complete_job(job_id, lease_id, 'w') from pgwf.jobs where job_id = 'dep'")
        .await;
    strict.run("select pgwf.get_work('w', array['n'])").await;
    strict.run("commit").await;
    assert_eq!(db.rows(&work("n", 9)).await, ["late"]);
    db.check().await;
}

/// What another claim has is no reason to leave what is due.
#[tokio::test]
async fn what_is_due_comes_although_others_have_what_is_ready() {
    for how in ["sleeping", "lapsed"] {
        let db = Db::new().await;
        due(&db, how).await;
        db.run("update pgflow.jobs set state = 'ready', token = null, lease_until = null, look_at = null where id = 'j0'").await;
        let (mut open, taken) = open_get_work(&db, "array['b']").await;
        assert_eq!(taken, ["j0"]);
        assert_eq!(db.rows(&work("b", 1)).await, ["j1"], "{how}");
        assert_eq!(db.rows(&work("b", 2)).await, ["j2", "j3"], "{how}");
        open.run("commit").await;
        db.check().await;
    }
}

/// The best first among what is brought back, whatever came due first: by priority, then by place.
#[tokio::test]
async fn a_small_claim_brings_back_the_best() {
    for how in ["sleeping", "lapsed"] {
        let db = Db::new().await;
        due(&db, how).await;
        db.run("update pgflow.jobs set created_at = created_at - interval '1 hour'").await;
        db.run("update pgflow.job_trace set at = at - interval '1 hour'").await;
        // The last in line came due first, and one of the middle has a priority.
        let at = "created_at + (100 - seq) * interval '1 second'";
        let columns = if how == "sleeping" {
            format!("wake_at = {at}")
        } else {
            format!("lease_until = {at}, look_at = {at}")
        };
        db.run(&format!(
            "update pgflow.jobs set {columns}, priority = case id when 'j5' then 1 else 0 end"
        ))
        .await;
        let (mut first, taken) = open_get_work(&db, "array['b']").await;
        assert_eq!(taken, ["j5"], "{how}");
        // What another claim has does not make it worse.
        let (mut second, taken) = open_get_work(&db, "array['b']").await;
        assert_eq!(taken, ["j0"], "{how}");
        assert_eq!(db.rows(&work("b", 2)).await, ["j1", "j2"], "{how}");
        first.run("commit").await;
        second.run("commit").await;
        db.check().await;
    }
}

/// A key is free as soon as no lease of it is valid, whoever polls what, and the best of those behind it come in their order.
#[tokio::test]
async fn a_lease_that_ran_out_keeps_no_key_from_other_needs() {
    let db = Db::new().await;
    for key in ["k", "l"] {
        db.run(&format!(
            "select pgwf.submit_job('dead-{key}', 'w', 'x', p_singleton_key => '{key}')"
        ))
        .await;
    }
    assert_eq!(db.rows(&work("x", 2)).await, ["dead-k", "dead-l"]);
    for (id, key) in [("b1", "k"), ("b2", "k"), ("c", "l")] {
        db.run(&format!("select pgwf.submit_job('{id}', 'w', 'y', p_singleton_key => '{key}')"))
            .await;
    }
    assert_eq!(db.rows(&work("y", 9)).await, [""; 0]);
    // Behind those in line, although it can be had without further ado.
    submit(&db, "y", &["d"]).await;
    super::lapse(&db, "dead-k").await;
    super::lapse(&db, "dead-l").await;
    assert_eq!(status(&db, "b1").await, "READY");
    let (mut open, taken) = open_get_work(&db, "array['y']").await;
    assert_eq!(taken, ["b1"]);
    // The other is neither held nor counted.
    assert_eq!(db.rows(&work("y", 9)).await, ["c", "d"]);
    open.run("rollback").await;
    assert_eq!(db.rows(&work("y", 9)).await, ["b1"]);
    assert_eq!(db.one("select sum(lapses) from pgflow.jobs").await, "2");
    let lease = db.one("select lease_id from pgwf.jobs where job_id = 'b1'").await;
    db.run(&format!("select pgwf.complete_job('b1', '{lease}', 'w')")).await;
    assert_eq!(db.rows(&work("x", 9)).await, ["dead-k"]);
    assert_eq!(db.rows(&work("y", 9)).await, [""; 0]);
    db.check().await;
}

/// What a client writes that works through a batch in one statement.
#[tokio::test]
async fn a_batch_is_taken_and_completed_in_one_statement() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('j' || i, 'w', 'n', p_singleton_key => 'k' || i % 3) from generate_series(0, 9) i").await;
    db.run("select pgwf.submit_job('last', 'w', 'm', array(select 'j' || i from generate_series(0, 9) i))").await;
    let batch = "select pgwf.complete_job(job_id, lease_id, 'w') from pgwf.get_work('w', array['n'], 60, 50)";
    for left in [7, 4, 1, 0] {
        db.run(batch).await;
        assert_eq!(
            db.one("select count(*) from pgwf.jobs where next_need = 'n'").await,
            left.to_string()
        );
        db.check().await;
    }
    lease(&db, "m", "last").await;
}
