//! What claims look at and take, and how attempts at messages end.

use super::{database, grant, hold, lease};
use crate::harness::Db;

const LOOK: &str =
    "select what, coalesce(kind, ''), name, state, batch, bytes from pgflow.look_at_queue(
    'w', 'q', '{resource,rate}', '{gpu,none}', 3, false) where what <> 'next'";

#[tokio::test]
async fn a_look_sees_permits_and_the_first_messages() {
    let db = database().await;
    let seen = db.rows(LOOK).await;
    assert_eq!(
        seen,
        [
            "permit|resource|gpu|{\"fence\": 0, \"capacity\": 2}|NULL|NULL",
            "message||a|NULL|NULL|5",
            "message||b|NULL|k|5",
            "message||c|{\"gpu\": 1}|NULL|5",
        ]
    );
    let place = db.one("select seq from pgflow.jobs where id = 'c'").await;
    let more = format!("select name, bytes from pgflow.more_messages('q', 9, 0, {place})");
    assert_eq!(db.rows(&more).await, ["d|5", "e|5"]);
    db.run("select pgflow.pause_needs('{q}', 'me')").await;
    assert_eq!(db.rows(LOOK).await.len(), 1, "of what is paused nothing can be had");
    let failure = db.error("select pgflow.look_at_queue('w', 'q', null, null, 0)").await;
    assert_eq!(failure.code, "22023");
}

/// What the look finds out of time is put right first, as every claim does.
#[tokio::test]
async fn a_look_takes_back_what_has_lapsed() {
    let db = database().await;
    lease(&db, "{a}").await;
    db.run("update pgflow.jobs set lease_until = now() - interval '1 second', look_at = now() - interval '1 second' where id = 'a'").await;
    let seen = db.rows(LOOK).await;
    assert!(seen.contains(&"message||a|NULL|NULL|5".to_owned()), "{seen:?}");
    assert_eq!(db.one("select lapses from pgflow.jobs where id = 'a'").await, "1");
    db.run("select pgflow.submit_jobs('{late}', '{q}', delays => '{60000}')").await;
    let next =
        "select count(*) from pgflow.look_at_queue('w', 'q', null, null, 1) where what = 'next'";
    assert_eq!(db.one(next).await, "1", "it says when the sleeper wakes");
}

/// However long ago it was pushed.
#[tokio::test]
async fn what_is_back_in_line_is_ready_since_then() {
    let db = database().await;
    db.run("update pgflow.jobs set created_at = created_at - interval '1 hour'").await;
    let old = "select name from pgflow.look_at_queue('w', 'q', null, null, 9)
                where what = 'message' and since < extract(epoch from now() - interval '30 minutes') * 1000000";
    assert_eq!(db.rows(old).await, ["a", "b", "c", "d", "e"]);
    lease(&db, "{a,b,c}").await;
    let settle = "select pgflow.settle_jobs(array['a', 'b'], array(select token::text from pgflow.jobs where id in ('a', 'b') order by id),
                    array['released', 'failed'], delays => array[null, 0])";
    db.run(settle).await;
    db.run("update pgflow.jobs set lease_until = now() - interval '1 second', look_at = now() - interval '1 second' where id = 'c'").await;
    assert_eq!(db.rows(old).await, ["d", "e"], "a was released, b has failed, c has lapsed");
    db.check().await;
}

/// Two claims at once do not plan for the same messages.
#[tokio::test]
async fn a_look_that_locks_leaves_out_what_others_have() {
    let db = database().await;
    let look = "select name from pgflow.look_at_queue('w', 'q', null, null, 2, true) where what = 'message'";
    let (mut one, mut other) = (db.session().await, db.session().await);
    one.run("begin").await;
    assert_eq!(one.rows(look).await, ["a", "b"]);
    other.run("begin; set lock_timeout = '2s'").await;
    assert_eq!(other.rows(look).await, ["c", "d"]);
    assert_eq!(lease(&db, "{a,b,e}").await, ["e"], "nobody waits for them");
}

#[tokio::test]
async fn exactly_what_is_named_is_leased_if_it_can_be_had() {
    let db = database().await;
    db.run("select pgflow.submit_jobs('{k1,k2}', '{q,q}', keys => '{key,key}')").await;
    db.run("select pgflow.submit_jobs('{late,old}', '{q,q}', delays => '{60000,null}', lifetimes => '{null,0}')").await;
    assert_eq!(lease(&db, "{c,a,k1,k2,late,old,none}").await, ["a", "c", "k1"]);
    assert_eq!(lease(&db, "{a,c}").await, [""; 0], "once");
    let row = "select state, attempts, worker, wake_at from pgflow.jobs where id = 'a'";
    assert_eq!(db.one(row).await, "leased|1|w|NULL");
    assert_eq!(db.one("select holder from pgflow.job_keys").await, "k1");
    // Each need has a head of its own, and one of them gets the key.
    db.run("select pgflow.submit_jobs('{k3,k4}', '{q,other}', keys => '{both,both}')").await;
    assert_eq!(lease(&db, "{k3,k4}").await, ["k3"]);
    let failure = db.error("select pgflow.lease_messages('w', '{}', 60)").await;
    assert_eq!(failure.code, "22023");
    grant(&db, 2, 1).await;
    hold(&db, "gpu", "c", 1, 1).await;
    db.check().await;
}

/// What a stage takes that needs nothing but slots, without a look.
#[tokio::test]
async fn the_first_messages_are_had_in_one_call() {
    let db = database().await;
    let front = async |max: u32| {
        let claim = format!(
            "select id, attempt, since = created_at from pgflow.claim_messages('w', 'q', 60, {max})"
        );
        db.rows(&claim).await
    };
    assert_eq!(front(3).await, [""; 0], "the third holds a resource");
    db.run("select pgflow.pause_needs('{q}', 'me')").await;
    assert_eq!(front(2).await, [""; 0], "it is paused");
    db.run("select pgflow.resume_needs('{q}')").await;
    let mut other = db.session().await;
    other.run("begin; select from pgflow.jobs where id = 'a' for update").await;
    assert_eq!(front(1).await, ["b|1|t"], "nobody waits for the first");
    other.run("rollback").await;
    assert_eq!(front(1).await, ["a|1|t"]);
    let row = "select state, worker, lease_until > now() + interval '50 seconds' from pgflow.jobs where id = 'a'";
    assert_eq!(db.one(row).await, "leased|w|t");
    let traced = "select kind, worker from pgflow.job_trace where job = 'a' and token is not null";
    assert_eq!(db.rows(traced).await, ["claimed|w"]);
    // What has lapsed is taken back first, and goes alone; back in line, it can be had since then.
    db.run("update pgflow.jobs set lease_until = now() - interval '1 second', look_at = now() - interval '1 second' where id = 'a'").await;
    assert_eq!(front(1).await, [""; 0], "it was lost with its worker");
    db.run("update pgflow.jobs set streak = 0 where id = 'a'").await;
    assert_eq!(front(1).await, ["a|2|f"]);
    lease(&db, "{c}").await;
    grant(&db, 2, 1).await;
    hold(&db, "gpu", "c", 1, 1).await;
    assert_eq!(front(9).await, ["d|1|t", "e|1|t"]);
    assert_eq!(front(9).await, [""; 0]);
    let failure = db.error("select pgflow.claim_messages('w', 'q', 0, 1)").await;
    assert_eq!(failure.code, "22023");
    db.check().await;
}

/// It takes a look where the order, or a key that waits, is to be minded; and one of a key is had at once.
#[tokio::test]
async fn the_first_messages_are_left_where_more_is_to_be_known() {
    let db = Db::new().await;
    let front = "select id from pgflow.claim_messages('w', 'q', 60, 9)";
    db.run("select pgflow.submit_jobs('{a,b,old}', '{q,q,q}', keys => '{k,k,null}', lifetimes => '{null,null,0}')").await;
    db.run("select pgflow.note_permits('{round}', '{q}', array['1'::jsonb])").await;
    assert_eq!(db.rows(front).await, [""; 0], "its queue is a fair one");
    db.run("delete from pgflow.permits").await;
    db.run(
        "insert into pgflow.job_messages (job, not_before) values ('a', now() - interval '1 hour')",
    )
    .await;
    assert_eq!(db.rows(front).await, [""; 0], "it kept its key waiting");
    db.run("delete from pgflow.job_messages").await;
    assert_eq!(db.rows(front).await, ["a"]);
    db.run("select pgflow.submit_jobs('{k3,k4}', '{q,other}', keys => '{both,both}')").await;
    assert_eq!(lease(&db, "{k4}").await, ["k4"]);
    assert_eq!(db.rows(front).await, [""; 0], "another need's has the key");
    db.check().await;
}

/// At most 64 MB of payloads, and one message in any case.
#[tokio::test]
async fn the_first_messages_are_bounded_in_bytes() {
    let db = Db::new().await;
    let heavy = "select pgflow.submit_jobs(array['h' || n], '{q}', array[to_jsonb(repeat('x', 4000000))]) from generate_series(1, 18) n";
    db.run(heavy).await;
    let front = "select count(*) from pgflow.claim_messages('w', 'q', 60, 100)";
    assert_eq!(db.one(front).await, "15");
    assert_eq!(db.one(front).await, "3");
}

/// Whatever is behind them.
#[tokio::test]
async fn a_look_measures_no_more_than_a_claim_hands_out() {
    let db = Db::new().await;
    let heavy = "select pgflow.submit_jobs(array['h' || n], '{q}', array[to_jsonb(repeat('x', 4000000))]) from generate_series(1, 18) n";
    db.run(heavy).await;
    for locks in [false, true] {
        let look = format!(
            "select count(*), sum(bytes) from pgflow.look_at_queue('w', 'q', null, null, 100, {locks}) where what = 'message'"
        );
        assert_eq!(db.one(&look).await, "16|64000032", "locks: {locks}");
    }
    let place = db.one("select seq from pgflow.jobs where id = 'h16'").await;
    let more = format!("select name from pgflow.more_messages('q', 100, 0, {place})");
    assert_eq!(db.rows(&more).await, ["h17", "h18"]);
}

/// It goes alone, which the look's caller sees to.
#[tokio::test]
async fn what_was_lost_with_its_worker_takes_a_look() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs('{a,b}', '{q,q}')").await;
    lease(&db, "{a}").await;
    db.run("update pgflow.jobs set lease_until = now() - interval '1 second', look_at = now() - interval '1 second' where id = 'a'").await;
    let claim = "select id from pgflow.claim_messages('w', 'q', 60, 9)";
    assert!(db.rows(claim).await.is_empty());
    let look = "select name, units from pgflow.look_at_queue('w', 'q', null, null, 9) where what = 'message'";
    assert_eq!(db.rows(look).await, ["a|1", "b|0"], "how many workers were lost with it");
    lease(&db, "{a}").await;
    assert_eq!(db.rows(claim).await, ["b"]);
}

#[tokio::test]
async fn messages_are_found_by_their_batch_keys() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs('{a,b,c,d,e}', '{q,q,q,q,r}')").await;
    db.run("select pgflow.keep_messages('{a,b,c,d,e}', '{k,l,k,k,k}', array_fill(null::jsonb, array[5]))").await;
    let of = async |max: u32, place: &str, locks: bool| {
        let place = format!("(select seq from pgflow.jobs where id = '{place}')");
        let after = format!("(select 0 where {place} is not null), {place}");
        db.rows(&format!(
            "select name from pgflow.batch_messages('q', '{{k,l,none}}', {max}, {after}, {locks})"
        ))
        .await
    };
    for locks in [false, true] {
        assert_eq!(of(2, "none", locks).await, ["a", "b", "c"], "two of each key");
        assert_eq!(of(2, "b", locks).await, ["c", "d"], "those behind a place");
    }
    lease(&db, "{c}").await;
    assert_eq!(of(2, "none", false).await, ["a", "b", "d"], "nobody else has it");
    db.run("update pgflow.jobs set expires_at = now() where id = 'd'").await;
    assert_eq!(of(2, "none", true).await, ["a", "b"]);
    db.run("select pgflow.reschedule_jobs('{c}', array[(select token::text from pgflow.jobs where id = 'c')], '{r}')").await;
    assert_eq!(of(2, "none", false).await, ["a", "b"], "it is at another queue");
    db.check().await;
}

#[tokio::test]
async fn what_waits_at_a_queue_is_counted() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs('{a,b,c,d}', '{q,q,q,r}', keys => '{k,k,null,null}')").await;
    db.run("select pgflow.submit_jobs('{late}', '{q}', delays => '{60000}')").await;
    let depth = |most: u32| format!("select pgflow.queue_depth('q', {most})");
    assert_eq!((db.one(&depth(9)).await, db.one(&depth(2)).await), ("4".into(), "2".into()));
    lease(&db, "{c}").await;
    assert_eq!(db.one(&depth(9)).await, "3", "without what is worked on");
}

#[tokio::test]
async fn the_end_of_an_attempt_frees_and_forgets() {
    let db = database().await;
    lease(&db, "{b,c}").await;
    grant(&db, 2, 1).await;
    hold(&db, "gpu", "c", 1, 1).await;
    let end = "select pgflow.end_messages(array[(select token::text from pgflow.jobs where id = 'c'), 'no token', null], '{c}',
                 '{b,none}', array[4102444800000000, 1])";
    assert_eq!(db.one(end).await, "{gpu}");
    assert_eq!(db.one("select count(*) from pgflow.permit_holds").await, "0");
    let kept = "select job, batch_key, extract(year from not_before at time zone 'utc') from pgflow.job_messages";
    assert_eq!(db.rows(kept).await, ["b|k|2100"]);
    let look = "select name, not_before from pgflow.look_at_queue('w', 'q', null, null, 9) where name = 'b'";
    db.run("select pgflow.release_jobs('{b}', array[(select token::text from pgflow.jobs where id = 'b')])").await;
    assert_eq!(db.rows(look).await, ["b|4102444800000000"]);
    db.check().await;
}

/// Kills messages, and drops and prunes them.
#[tokio::test]
async fn dead_messages_are_dropped_with_all_that_is_kept_of_them() {
    let db = database().await;
    lease(&db, "{b,c,d}").await;
    for (id, verdict) in [("b", "fatal"), ("c", "fatal"), ("d", "finished")] {
        db.run(&format!(
            "select pgflow.settle_jobs('{{{id}}}', array[(select token::text from pgflow.jobs where id = '{id}')], '{{{verdict}}}', errors => '{{bad}}')"
        ))
        .await;
    }
    assert_eq!(db.one("select pgflow.drop_dead_jobs('{a,b,d,none}')").await, "1");
    let left = "select id from pgflow.job_archive order by id";
    assert_eq!(db.rows(left).await, ["c", "d"], "d is done, and a lives");
    assert_eq!(db.rows("select job from pgflow.job_messages").await, ["c"]);
    let traces = "select count(*) from pgflow.job_trace where job = 'b'";
    assert_eq!(db.one(traces).await, "0");
    db.check().await;
    assert_eq!(db.one("select pgflow.prune_jobs(interval '0')").await, "2");
    assert_eq!(db.one("select count(*) from pgflow.job_messages").await, "0");
    db.check().await;
}

/// The next of its line goes on, although the message does too.
#[tokio::test]
async fn a_message_that_is_handed_over_can_free_its_key() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs('{a,b,c}', '{q,q,q}', keys => '{k,k,k}')").await;
    let on = async |id: &str, frees: &str| {
        assert_eq!(lease(&db, &format!("{{{id},c}}")).await, [id]);
        db.run(&format!(
            "select pgflow.settle_jobs(array['{id}'], array[(select token::text from pgflow.jobs where id = '{id}')], '{{handed_over}}',
               needs => '{{next}}', frees_keys => '{{{frees}}}')"
        ))
        .await;
        db.check().await;
    };
    on("a", "true").await;
    on("b", "false").await;
    let states = "select id, need, state, key from pgflow.jobs order by id";
    assert_eq!(db.rows(states).await, ["a|next|ready|NULL", "b|next|ready|k", "c|q|ready|k"]);
    assert_eq!(db.one("select jobs from pgflow.job_keys").await, "2");
    // The same for one that waits for another.
    assert_eq!(lease(&db, "{c}").await, ["c"]);
    let ending = r#"{"verdict": "handed_over", "need": "next", "frees_key": true, "after": [{"kind": "job", "id": "a"}]}"#;
    let settle = format!(
        "select outcome from pgflow.settle_job('c', (select token::text from pgflow.jobs where id = 'c'), '{ending}')"
    );
    assert_eq!(db.one(&settle).await, "applied");
    assert_eq!(db.one("select state, key from pgflow.jobs where id = 'c'").await, "waiting|NULL");
    assert_eq!(db.one("select jobs from pgflow.job_keys").await, "1");
    db.check().await;
}
