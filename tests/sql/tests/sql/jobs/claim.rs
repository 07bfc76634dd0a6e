//! Claiming and heartbeats.

use super::{claim, finish, lapse, list, live, settle, submit, submit_with};
use crate::harness::Db;

#[tokio::test]
async fn a_claim_says_what_it_took() {
    let db = Db::new().await;
    submit_with(
        &db,
        "x",
        "n",
        "payloads => array['{\"page\": 1}']::jsonb[], priorities => array[2], keys => array['k']",
    )
    .await;
    let taken =
        "select id, need, payload, attempt, priority, key, failures, lapses, streak, length(token),
            extract(epoch from lease_until - clock_timestamp()) between 50 and 60
        from pgflow.claim_jobs('w', array['n'], 60, 5)";
    assert_eq!(db.rows(taken).await, ["x|n|{\"page\": 1}|1|2|k|0|0|0|36|t"]);
    assert_eq!(db.one("select worker from pgflow.jobs").await, "w");
    db.check().await;
}

#[tokio::test]
async fn several_needs_are_one_line() {
    let db = Db::new().await;
    submit(&db, "a", &["1", "2"]).await;
    submit(&db, "b", &["3"]).await;
    submit(&db, "a", &["4"]).await;
    submit_with(&db, "5", "b", "priorities => array[1]").await;
    submit(&db, "c", &["6"]).await;
    assert_eq!(claim(&db, &["a", "b", "b"], 4).await, ["5", "1", "2", "3"]);
    assert_eq!(claim(&db, &["a", "b"], 4).await, ["4"]);
    assert_eq!(claim(&db, &["nothing"], 4).await, [""; 0]);
}

/// Case and dots are part of a need's name.
#[tokio::test]
async fn needs_are_taken_by_their_exact_name() {
    let db = Db::new().await;
    submit(&db, "Gpu.Render", &["x"]).await;
    assert_eq!(claim(&db, &["gpu.render", "Gpu_Render", "Gpu"], 1).await, [""; 0]);
    assert_eq!(claim(&db, &["Gpu.Render"], 1).await, ["x"]);
}

/// Locks are for what was taken, not for what was looked at.
#[tokio::test]
async fn an_open_claim_holds_up_nobody() {
    let db = Db::new().await;
    submit(&db, "n", &["1", "2", "3", "4"]).await;
    submit(&db, "m", &["5", "6"]).await;
    assert_eq!(claim(&db, &["n"], 1).await, ["1"]);
    let mut open = db.session().await;
    assert_eq!(
        open.rows("begin; select id from pgflow.claim_jobs('o', array['n', 'm'], 60, 1)").await,
        ["2"]
    );
    let mut other = db.session().await;
    other.run("set lock_timeout = '2s'").await;
    assert_eq!(
        other.rows("select id from pgflow.claim_jobs('w', array['n', 'm'], 60, 3)").await,
        ["3", "4", "5"]
    );
    other.run("select pgflow.beat_jobs(array['1'], array[(select token::text from pgflow.jobs where id = '1')], 60)").await;
    other.run("select pgflow.finish_jobs(array['1'], array[(select token::text from pgflow.jobs where id = '1')])").await;
    other.run("select pgflow.sweep_jobs()").await;
    open.run("rollback").await;
    assert_eq!(claim(&db, &["n", "m"], 9).await, ["2", "6"]);
    db.check().await;
}

#[tokio::test]
async fn a_heartbeat_counts_from_now_and_indexes_nothing() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    let until = "select ceil(extract(epoch from lease_until - clock_timestamp())), look_at <= lease_until from pgflow.jobs";
    assert_eq!(settle(&db, "beat_jobs", "x", ", 600").await, "extended");
    assert_eq!(db.one(until).await, "600|t");
    assert_eq!(settle(&db, "beat_jobs", "x", ", 10").await, "extended");
    assert_eq!(db.one(until).await, "10|t");
    // By place: an update that changes no indexed column stays on its page.
    assert_eq!(settle(&db, "beat_jobs", "x", ", 600").await, "extended");
    let place = "select (ctid::text::point)[0] from pgflow.jobs";
    let page = db.one(place).await;
    let entries =
        "select pg_relation_size('pgflow.jobs_leased') + pg_relation_size('pgflow.jobs_pkey')";
    let size = db.one(entries).await;
    for _ in 0..20 {
        assert_eq!(settle(&db, "beat_jobs", "x", ", 600").await, "extended");
        assert_eq!(db.one("select look_at < lease_until from pgflow.jobs").await, "t");
    }
    assert_eq!((db.one(place).await, db.one(entries).await), (page, size));
    db.check().await;
}

/// A lease that lasts longer than it was first promised is looked at, and left alone.
#[tokio::test]
async fn a_lease_that_was_extended_does_not_lapse() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    db.run("update pgflow.jobs set created_at = created_at - interval '1 hour', look_at = clock_timestamp() - interval '1 second'").await;
    assert_eq!(claim(&db, &["n"], 1).await, [""; 0]);
    assert_eq!(db.one("select lapsed from pgflow.sweep_jobs()").await, "0");
    assert_eq!(live(&db).await, ["x:n:leased a1"]);
    // The next beat sees to it that nobody looks in vain.
    assert_eq!(settle(&db, "beat_jobs", "x", ", 60").await, "extended");
    assert_eq!(db.one("select look_at = lease_until from pgflow.jobs").await, "t");
}

#[tokio::test]
async fn a_lapsed_lease_is_counted_once_and_taken_again() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    let old = db.one("select token from pgflow.jobs").await;
    lapse(&db, &["x"]).await;
    assert_eq!(
        db.rows(
            "select id, attempt, lapses, streak from pgflow.claim_jobs('w', array['n'], 60, 1)"
        )
        .await,
        ["x|2|1|1"]
    );
    for call in ["finish_jobs", "release_jobs"] {
        let zombie = format!("select outcome from pgflow.{call}(array['x'], array['{old}'])");
        assert_eq!(db.one(&zombie).await, "fenced", "{call}");
    }
    let beat = format!("select outcome from pgflow.beat_jobs(array['x'], array['{old}'], 60)");
    assert_eq!(db.one(&beat).await, "lost");
    assert_eq!(live(&db).await, ["x:n:leased a2 l1 s1"]);
    db.check().await;
}

/// What a claim counts is not counted by the sweep, nor the other way round.
#[tokio::test]
async fn a_lapse_of_a_need_that_nobody_polls_is_counted_by_the_sweep() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    lapse(&db, &["x"]).await;
    assert_eq!(db.one("select lapsed from pgflow.sweep_jobs()").await, "1");
    assert_eq!(db.one("select lapsed from pgflow.sweep_jobs()").await, "0");
    assert_eq!(live(&db).await, ["x:n:ready a1 l1 s1"]);
    assert_eq!(claim(&db, &["n"], 1).await, ["x"]);
    assert_eq!(live(&db).await, ["x:n:leased a2 l1 s1"]);
    db.check().await;
}

#[tokio::test]
async fn a_heartbeat_answers_for_each() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b", "c"]).await;
    claim(&db, &["n"], 2).await;
    db.run("select pgflow.cancel_jobs(array['b'])").await;
    let tokens = "array(select token::text from pgflow.jobs order by seq) || array[null, 'x']";
    let beat = format!(
        "select id, outcome from pgflow.beat_jobs({}, {tokens}, 60)",
        list(&["a", "b", "c", "a", "zz"])
    );
    assert_eq!(db.rows(&beat).await, ["a|extended", "b|cancelled", "c|lost", "a|lost", "zz|lost"]);
    db.check().await;
}

/// Of more than a claim asks for it gets the best, of one need and of several.
#[tokio::test]
async fn a_claim_takes_the_best_of_all_its_needs() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs(array['a1', 'a2', 'a3', 'z1', 'z2'], array['a', 'a', 'a', 'z', 'z'], priorities => array[0, 5, 3, 4, 0])").await;
    assert_eq!(claim(&db, &["a"], 1).await, ["a2"]);
    assert_eq!(claim(&db, &["z", "a"], 2).await, ["z1", "a3"]);
    assert_eq!(claim(&db, &["z", "a"], 1).await, ["a1"]);
    db.check().await;
}

/// All of them in one answer would be more than the server can hold. Nobody gets the key of a job that waits for the next claim.
#[tokio::test]
async fn a_claim_hands_out_so_many_bytes_at_once() {
    let db = Db::new().await;
    let jobs = if crate::harness::long() { 300 } else { 20 };
    for n in 1..=jobs {
        let (need, key) = (if n % 2 == 0 { "even" } else { "odd" }, n % 3 == 0);
        let key = if key { format!("'k{n}'") } else { "null".into() };
        db.run(&format!(
            "select pgflow.submit_jobs(array['j{n}'], array['{need}'], array[to_jsonb(repeat('x', 3900000))], keys => array[{key}])"
        ))
        .await;
    }
    submit(&db, "odd", &["light"]).await;
    let expected: Vec<_> = (1..=jobs).map(|n| format!("j{n}")).collect();
    let mut had = Vec::new();
    while had.len() < jobs {
        let taken = claim(&db, &["even", "odd"], 400).await;
        let left = jobs - had.len();
        // Sixteen payloads are less than 64 MB.
        let fit = if left < 16 { left + 1 } else { 16 };
        assert_eq!(taken.len(), fit, "after {}", had.len());
        db.check().await;
        for id in &taken {
            finish(&db, id).await;
        }
        had.extend(taken);
    }
    assert_eq!(had[..jobs], expected, "in the order of the line");
    db.check().await;
}

/// One is handed out whatever it weighs, also through pgwf, and what is compressed is measured as it is read.
#[tokio::test]
async fn a_claim_gets_on_with_what_is_too_heavy() {
    let db = Db::new().await;
    db.run("update pgflow.limits set max_payload_bytes = 67108864").await;
    for id in ["a", "b"] {
        submit_with(&db, id, "n", "payloads => array[to_jsonb(repeat('x', 65000000))]").await;
    }
    submit(&db, "n", &["c"]).await;
    assert_eq!(claim(&db, &["n"], 9).await, ["a"]);
    let through_pgwf = "select job_id from pgwf.get_work('w', array['n'], 60, 9)";
    assert_eq!(db.rows(through_pgwf).await, ["b"]);
    assert_eq!(db.rows(through_pgwf).await, ["c"]);
    db.check().await;
}

/// What a claim did not get because somebody has its key weighs nothing.
#[tokio::test]
async fn a_claim_weighs_only_what_it_leases() {
    let db = Db::new().await;
    let heavy = "payloads => array[to_jsonb(repeat('x', 100000))]";
    for id in ["a", "b"] {
        submit_with(&db, id, "n", &format!("{heavy}, keys => array['k{id}']")).await;
    }
    submit_with(&db, "c", "n", heavy).await;
    let mut holder = db.session().await;
    holder.run("begin; select from pgflow.job_keys for update").await;
    assert_eq!(claim(&db, &["n"], 2).await, ["c"]);
    holder.run("rollback").await;
    assert_eq!(claim(&db, &["n"], 2).await, ["a", "b"]);
    db.check().await;
}
