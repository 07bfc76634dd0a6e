//! Resources, rates, rounds and turns.

use super::{database, grant, hold, lease};
use crate::harness::{Db, define};

const STATE: &str = "select state from pgflow.permits where kind = 'resource' and name = 'gpu'";

#[tokio::test]
async fn a_capacity_is_set_and_the_fence_goes_on() {
    let db = Db::new().await;
    db.run("select pgflow.set_capacity('gpu', 4)").await;
    assert_eq!(db.one(STATE).await, r#"{"fence": 0, "capacity": 4}"#);
    grant(&db, 4, 7).await;
    db.run("select pgflow.set_capacity('gpu', 5)").await;
    assert_eq!(db.one(STATE).await, r#"{"fence": 7, "capacity": 5}"#);
    let names = ["gpu:0", "gpu_0", "GPU:0", "gpu''; drop table x;--"];
    for name in names {
        db.run(&format!("select pgflow.set_capacity('{name}', 1)")).await;
    }
    assert_eq!(
        db.one("select count(*) from pgflow.list_permits('resource')").await,
        "5",
        "slugs are data"
    );
    db.check().await;
}

#[tokio::test]
async fn what_cannot_be_set_is_refused() {
    let db = Db::new().await;
    for (call, said) in [
        ("set_capacity('gpu', 0)", "at least 1, not 0"),
        ("set_capacity('gpu', -1)", "at least 1, not -1"),
        ("set_capacity('gpu', null)", "at least 1, not null"),
        ("set_capacity('', 1)", "1 to 128 bytes"),
        ("set_capacity(null, 1)", "1 to 128 bytes"),
        ("set_capacity(repeat('x', 129), 1)", "1 to 128 bytes"),
        ("set_rate('r', -1)", "cannot be -1"),
        ("set_rate('r', null)", "cannot be null"),
        ("set_rate('r', 1, burst => 0)", "burst of at least 1"),
        ("set_rate('r', 1, burst => null)", "burst of at least 1"),
        ("set_rate('r', 2, interval '1 microsecond')", "one per microsecond"),
        ("set_rate('r', 1, interval '0')", "period must not be empty"),
        ("set_rate('r', 1, null)", "period must not be empty"),
        ("set_rate('r', 1, interval '101 years')", "longer than a hundred years"),
        ("set_rate('r', 1, interval '170000000 years')", "longer than a hundred years"),
        ("set_rate(null, 1)", "1 to 128 bytes"),
    ] {
        let failure = db.error(&format!("select pgflow.{call}")).await;
        assert!(failure.message.contains(said), "{call}: {failure}");
        assert_eq!(failure.code, "22023", "{call}");
    }
    assert_eq!(db.one("select count(*) from pgflow.permits").await, "0");
}

/// As `Bucket::set` does it.
#[tokio::test]
async fn a_rate_keeps_what_was_taken_as_far_as_it_looks_back() {
    let db = Db::new().await;
    db.run("select pgflow.set_rate('r', 60, interval '1 minute', 3)").await;
    let full = r#"{"rate": {"burst": 3, "amount": 60, "period": 60000000}, "spent": -9223372036854775808, "declared": {"burst": 3, "amount": 60, "period": 60000000}}"#;
    assert_eq!(db.one("select state from pgflow.permits").await, full);
    db.run("update pgflow.permits set state = state || jsonb_build_object('spent', (extract(epoch from now() + interval '1 hour') * 1000000)::bigint)").await;
    db.run("select pgflow.set_rate('r', 0)").await;
    let spent = "select (state ->> 'spent')::bigint / 1000000 - extract(epoch from now())::bigint > 3000 from pgflow.permits";
    assert_eq!(db.one(spent).await, "t", "a pause changes nothing about it");
    db.run("select pgflow.set_rate('r', 10, interval '1 second', 5)").await;
    let ahead = "select (state ->> 'spent')::bigint - (extract(epoch from now()) * 1000000)::bigint between 400000 and 600000 from pgflow.permits";
    assert_eq!(db.one(ahead).await, "t", "a tenth of a second for each of five");
    // All of a burst is taken, and the rate lowered and raised: nothing is given back.
    db.run("select pgflow.set_rate('r', 60, interval '1 minute', 60)").await;
    db.run("update pgflow.permits set state = state || jsonb_build_object('spent', (extract(epoch from now() + interval '60 seconds') * 1000000)::bigint)").await;
    for burst in [1, 60] {
        db.run(&format!("select pgflow.set_rate('r', 60, interval '1 minute', {burst})")).await;
        db.run("select pgflow.set_rate('r', 0)").await;
    }
    db.run("select pgflow.set_rate('r', 60, interval '1 minute', 60)").await;
    let ahead = "select (state ->> 'spent')::bigint - (extract(epoch from now()) * 1000000)::bigint > 30000000, state ? 'before' from pgflow.permits";
    assert_eq!(db.one(ahead).await, "t|f", "most of a minute");
    let declared = "select state #>> '{declared,amount}' from pgflow.permits";
    assert_eq!(db.one(declared).await, "60", "what programs declared is still known");
    db.check().await;
}

#[tokio::test]
async fn rounds_only_grow_and_turns_never_go_back() {
    let db = Db::new().await;
    let note = |round: u32, turn: u32| {
        format!(
            "select pgflow.note_permits('{{round,turn}}', '{{q,k}}', array['{round}', '{turn}']::jsonb[])"
        )
    };
    let states = "select kind, state from pgflow.load_permits('{turn,round,rate}', '{k,q,none}') order by kind";
    db.run(&note(5, 9)).await;
    db.run(&note(3, 4)).await;
    assert_eq!(db.rows(states).await, ["round|5", "turn|9"]);
    db.run(&note(6, 10)).await;
    assert_eq!(db.rows(states).await, ["round|6", "turn|10"]);
}

/// Whoever pushes in a long transaction keeps nobody from claiming.
#[tokio::test]
async fn a_round_that_somebody_moves_is_left_alone() {
    let db = Db::new().await;
    db.run("select pgflow.note_permits('{round}', '{q}', array['1']::jsonb[])").await;
    let (mut one, mut other) = (db.session().await, db.session().await);
    one.run("begin; select pgflow.note_permits('{round}', '{q}', array['5']::jsonb[])").await;
    other.run("set lock_timeout = '2s'; select pgflow.note_permits('{round}', '{q}', array['7']::jsonb[])").await;
    one.run("commit").await;
    assert_eq!(db.one("select state from pgflow.permits").await, "5");
}

#[tokio::test]
async fn locked_permits_are_waited_for_or_left_out() {
    let db = Db::new().await;
    db.run("select pgflow.set_capacity('a', 1); select pgflow.set_capacity('b', 1)").await;
    let load = |waits: bool| {
        format!(
            "select name from pgflow.load_permits('{{resource,resource}}', '{{a,b}}', true, {waits}) order by 1"
        )
    };
    let (mut one, mut other) = (db.session().await, db.session().await);
    one.run("begin; select pgflow.load_permits('{resource}', '{a}', true)").await;
    other.run("begin; set lock_timeout = '100ms'").await;
    assert_eq!(other.rows(&load(false)).await, ["b"]);
    let failure = other.ask(&load(true)).await.expect_err("a is locked");
    assert_eq!(failure.code, "55P03", "{failure}");
}

/// Keys of a fair queue, of others, and one that somebody pushes for.
#[tokio::test]
async fn keys_that_are_behind_are_forgotten() {
    let db = Db::new().await;
    db.run(
        "select pgflow.note_permits('{round,turn,turn,turn,turn}', '{q,1:q:a,1:q:b,1:q:c,2:qq:a}', array['5', '5', '6', '1', '1']::jsonb[])",
    )
    .await;
    let left = "select name from pgflow.list_permits('turn')";
    let mut pusher = db.session().await;
    pusher.run("begin; select pgflow.load_permits('{turn}', '{1:q:c}', true)").await;
    assert_eq!(db.one("select pgflow.prune_turns('q')").await, "1");
    assert_eq!(db.rows(left).await, ["1:q:b", "1:q:c", "2:qq:a"], "b is ahead, c is locked");
    pusher.run("rollback").await;
    assert_eq!(db.one("select pgflow.prune_turns('q', 9)").await, "1");
    assert_eq!(db.one("select pgflow.prune_turns('qq')").await, "0", "nobody knows how far it is");
    assert_eq!(db.rows(left).await, ["1:q:b", "2:qq:a"]);
}

#[tokio::test]
async fn what_is_kept_of_a_message_can_be_read() {
    let db = database().await;
    let kept = |id: &str| {
        format!("select batch_key, resources, not_before from pgflow.get_message('{id}')")
    };
    assert_eq!(db.rows(&kept("b")).await, ["k|NULL|NULL"]);
    assert_eq!(db.rows(&kept("c")).await, ["NULL|{\"gpu\": 1}|NULL"]);
    assert!(db.rows(&kept("a")).await.is_empty(), "nothing is kept of it");
}

#[tokio::test]
async fn holds_count_while_their_leases_are_there() {
    let db = database().await;
    assert_eq!(lease(&db, "{a,c}").await, ["a", "c"]);
    grant(&db, 2, 2).await;
    hold(&db, "gpu", "a", 1, 1).await;
    hold(&db, "gpu", "c", 1, 2).await;
    let held = "select job, units, fence from pgflow.load_holds('{gpu,none}') order by job";
    assert_eq!(db.rows(held).await, ["a|1|1", "c|1|2"]);
    db.check().await;
    db.run("select pgflow.release_jobs('{a}', array[(select token::text from pgflow.jobs where id = 'a')])").await;
    assert_eq!(db.rows(held).await, ["c|1|2"], "who is gone holds nothing");
    assert_eq!(db.one("select count(*) from pgflow.permit_holds").await, "2");
    assert_eq!(lease(&db, "{b}").await, ["b"]);
    grant(&db, 2, 3).await;
    hold(&db, "gpu", "b", 1, 3).await;
    assert_eq!(db.one("select count(*) from pgflow.permit_holds").await, "2", "a's is forgotten");
    hold(&db, "gpu", "d", 1, 3).await;
    lease(&db, "{e}").await;
    let stale = "select pgflow.hold_permits('{gpu}', '{e}', '{00000000-0000-4000-8000-000000000bad}', '{x}', '{1}', '{3}')";
    db.run(stale).await;
    assert_eq!(
        db.rows(held).await,
        ["b|1|3", "c|1|2"],
        "d is not leased, and e's lease is another"
    );
    db.check().await;
}

#[tokio::test]
async fn more_may_be_held_than_there_is_once_there_is_less() {
    let db = database().await;
    lease(&db, "{a,b}").await;
    grant(&db, 2, 2).await;
    hold(&db, "gpu", "a", 1, 1).await;
    hold(&db, "gpu", "b", 1, 2).await;
    db.run("select pgflow.set_capacity('gpu', 1)").await;
    db.check().await;
    assert_eq!(db.one("select lowered from pgflow.permits").await, "t");
    // A program sets it like that.
    grant(&db, 1, 2).await;
    db.check().await;
    grant(&db, 1, 3).await;
    assert_eq!(db.one("select lowered from pgflow.permits").await, "f");
    let broken = db.rows("select invariant from pgflow.check()").await;
    assert_eq!(broken, ["held_units"], "nothing can have been granted while so much was held");
}

#[tokio::test]
async fn tasks_hold_while_their_attempts_go_on() {
    let db = database().await;
    db.run(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    grant(&db, 2, 2).await;
    let hold = |index: u32, attempt: u32, fence: u32| {
        format!(
            "select pgflow.hold_for_tasks('{{gpu}}', array['{}'::uuid], '{{m}}', '{{{index}}}', '{{{attempt}}}', '{{1}}', '{{{fence}}}')",
            run.id
        )
    };
    db.run(&hold(0, 1, 1)).await;
    db.run(&hold(1, 1, 2)).await;
    db.run(&hold(2, 7, 2)).await;
    let holders = "select place, units, fence from pgflow.load_holds('{gpu,none}') order by fence";
    assert_eq!(db.rows(holders).await, ["0|1|1", "0|1|2"], "who has no attempt holds nothing");
    db.check().await;
    run.complete("m", 0, "10").await;
    assert_eq!(db.rows(holders).await, ["0|1|2"], "who is done holds nothing");
    assert_eq!(db.one("select count(*) from pgflow.task_holds").await, "2");
    grant(&db, 2, 3).await;
    db.run(&hold(2, 1, 3)).await;
    assert_eq!(db.one("select count(*) from pgflow.task_holds").await, "2", "it is forgotten");
    db.check().await;

    let give_up = |index: u32| {
        format!(
            "select pgflow.give_up_holds(array['{}'::uuid], '{{m}}', '{{{index}}}', '{{1}}')",
            run.id
        )
    };
    assert_eq!(db.one(&give_up(1)).await, "{}", "who goes on gives up nothing");
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    assert_eq!(db.rows(holders).await, ["0|1|2", "0|1|3"], "workers do not know yet");
    assert_eq!(db.one(&give_up(1)).await, "{gpu}");
    assert_eq!(db.rows(holders).await, ["0|1|3"], "one has said that it is done");
    let later = |seconds: u32| {
        format!(
            "update pgflow.runs set started_at = started_at - interval '{seconds} s', cancelled_at = cancelled_at - interval '{seconds} s'"
        )
    };
    // 60 s, and twice the grace.
    db.run(&later(60)).await;
    assert_eq!(db.rows(holders).await, ["0|1|3"], "a heartbeat may have promised more");
    db.run(&later(5)).await;
    assert!(db.rows(holders).await.is_empty(), "no lease lasts that long");
}
