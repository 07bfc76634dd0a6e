//! Several sessions at once: nothing is lost, taken twice or held together.

use std::sync::Arc;

use tokio::sync::Barrier;

use super::{assert_no_deadlocks, live};
use crate::harness::{Db, Failure, long};

type Answer = Result<Vec<String>, Failure>;

/// Lets two sessions each run a statement at once, `rounds` times.
pub(super) async fn pairs(
    db: &Db,
    rounds: usize,
    one: fn(usize) -> String,
    other: fn(usize) -> String,
) -> Vec<Answer> {
    let barrier = Arc::new(Barrier::new(2));
    let mut sessions = Vec::new();
    for statement in [one, other] {
        let (mut session, barrier) = (db.session().await, Arc::clone(&barrier));
        sessions.push(tokio::spawn(async move {
            let mut answers = Vec::new();
            for round in 0..rounds {
                barrier.wait().await;
                answers.push(session.ask(&statement(round)).await);
            }
            answers
        }));
    }
    let mut answers = Vec::new();
    for session in sessions {
        answers.extend(session.await.expect("a session ended badly"));
    }
    answers
}

fn races() -> usize {
    if long() { 10_000 } else { 300 }
}

/// The published implementation loses 183 of 300.
#[tokio::test]
async fn no_wake_up_is_lost_between_submit_and_finish() {
    let db = Db::new().await;
    db.run(&format!("select pgflow.submit_jobs(array(select 'd' || i from generate_series(0, {0}) i), array_fill('d'::text, array[{0} + 1]))", races() - 1)).await;
    db.run(&format!("create table public.lease as select * from pgflow.claim_jobs('w', array['d'], 3600, {}); alter table public.lease add primary key (id)", races())).await;
    let answers = pairs(
        &db,
        races(),
        |i| format!("select pgflow.submit_jobs(array['w{i}'], array['n'], edge_jobs => array[1], dependencies => array['d{i}'])"),
        |i| format!("select outcome from pgflow.finish_jobs(array['d{i}'], (select array[token] from public.lease where id = 'd{i}'))"),
    )
    .await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(db.one("select count(*) from pgflow.jobs where state <> 'ready'").await, "0");
    assert_eq!(live(&db).await.len(), races());
    db.check().await;
}

/// A parent hands itself on and waits for a child that ends at that moment.
#[tokio::test]
async fn no_wake_up_is_lost_between_hand_over_and_finish() {
    let db = Db::new().await;
    for need in ["p", "d"] {
        db.run(&format!("select pgflow.submit_jobs(array(select '{need}' || i from generate_series(0, {0}) i), array_fill('{need}'::text, array[{0} + 1]))", races() - 1)).await;
    }
    db.run("create table public.lease as select * from pgflow.claim_jobs('w', array['d', 'p'], 3600, 100000); alter table public.lease add primary key (id)").await;
    let answers = pairs(
        &db,
        races(),
        |i| format!("select pgflow.reschedule_jobs(array['p{i}'], (select array[token] from public.lease where id = 'p{i}'), array['m'],
                       edge_jobs => array[1], dependencies => array['d{i}'])"),
        |i| format!("select outcome from pgflow.finish_jobs(array['d{i}'], (select array[token] from public.lease where id = 'd{i}'))"),
    )
    .await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(db.one("select count(*) from pgflow.jobs where state <> 'ready'").await, "0");
    db.check().await;
}

const CLAIMERS: usize = 8;

/// Each claimer asks for other needs; what is leased together must differ in its key.
#[tokio::test]
async fn eight_claimers_of_different_needs_never_share_a_key() {
    let db = Db::new().await;
    db.run("create table public.held (key text primary key)").await;
    db.run("select pgflow.submit_jobs(array(select 'j' || i from generate_series(1, 800) i),
              array(select 'n' || i % 8 from generate_series(1, 800) i), keys => array(select 'k' || i % 5 from generate_series(1, 800) i))").await;
    let mut claimers = Vec::new();
    for number in 0..CLAIMERS {
        let mut session = db.session().await;
        claimers.push(tokio::spawn(async move {
            let mut done = 0;
            let mut idle = 0;
            while idle < 200 {
                // A key that is held by another claimer is already there.
                let claim = format!(
                    "insert into public.held select key from pgflow.claim_jobs('w{number}', array['n{number}', 'n{}'], 600, 3) returning key",
                    (number + 1) % CLAIMERS
                );
                let keys = session.rows(&claim).await;
                if keys.is_empty() {
                    idle += 1;
                    continue;
                }
                idle = 0;
                done += keys.len();
                let finish = format!(
                    "with mine as (select array_agg(id) as ids, array_agg(token::text) as tokens, array_agg(key) as keys from pgflow.jobs
                       where state = 'leased' and worker = 'w{number}'),
                     gone as (delete from public.held h using mine m where h.key = any (m.keys))
                     select pgflow.finish_jobs(ids, tokens) from mine"
                );
                session.run(&finish).await;
            }
            done
        }));
    }
    let mut done = 0;
    for claimer in claimers {
        done += claimer.await.expect("two claimers held one key");
    }
    assert_eq!(done, 800);
    assert_eq!(live(&db).await, [""; 0]);
    assert_no_deadlocks(&mut db.session().await).await;
    db.check().await;
}

/// What eight take at once is taken once, and nobody comes back empty-handed while there is enough.
#[tokio::test]
async fn eight_claimers_get_different_jobs_and_none_goes_away_empty() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs(array(select 'j' || i from generate_series(1, 1600) i), array_fill('n'::text, array[1600]))").await;
    let mut claimers = Vec::new();
    for _ in 0..CLAIMERS {
        let mut session = db.session().await;
        claimers.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            for _ in 0..20 {
                let taken = session
                    .rows("select id from pgflow.claim_jobs('w', array['n'], 600, 10)")
                    .await;
                assert_eq!(taken.len(), 10, "a false-empty claim");
                ids.extend(taken);
            }
            ids
        }));
    }
    let mut ids = Vec::new();
    for claimer in claimers {
        ids.extend(claimer.await.expect("a claimer ended badly"));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1600);
    db.check().await;
}

/// Two who take back the same lapsed lease count it once.
#[tokio::test]
async fn a_lapse_is_counted_once_by_many() {
    let db = Db::new().await;
    super::submit(&db, "n", &["x"]).await;
    for round in 1..=20 {
        super::claim(&db, &["n"], 1).await;
        super::lapse(&db, &["x"]).await;
        let answers = pairs(
            &db,
            1,
            |_| "select lapsed from pgflow.sweep_jobs()".into(),
            |_| "select count(*) from pgflow.claim_jobs('w', array['m'], 60, 1)".into(),
        )
        .await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(db.one("select lapses from pgflow.jobs").await, round.to_string());
        db.run("select pgflow.clear_concern(array['x'])").await;
    }
    db.check().await;
}

/// A transaction that is stricter than read committed does not see who came after it began; the sweep does.
#[tokio::test]
async fn no_wake_up_is_lost_in_a_strict_transaction() {
    for isolation in ["repeatable read", "serializable"] {
        let db = Db::new().await;
        super::submit(&db, "d", &["dep"]).await;
        super::claim(&db, &["d"], 1).await;
        let mut strict = db.session().await;
        strict
            .run(&format!("begin isolation level {isolation}; select count(*) from pgflow.jobs"))
            .await;
        super::submit_after(&db, "waiter", &["dep"], "release").await;
        strict.run("select pgflow.finish_jobs(array['dep'], array(select token::text from pgflow.jobs where id = 'dep')); commit").await;
        db.run("select pgflow.sweep_jobs()").await;
        assert_eq!(live(&db).await, ["waiter:join:ready"], "{isolation}");
        assert_eq!(db.one("select count(*) from pgflow.job_wakes").await, "0");
        db.check().await;
    }
}
