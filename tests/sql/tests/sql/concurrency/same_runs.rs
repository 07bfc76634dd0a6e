//! Everything that can be done to a run, done to the same few runs from several sessions at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::race::assert_no_deadlocks;
use super::same_runs_actor::{Actions, Actor, EVERYTHING, MAINTENANCE, REPLACING, flow};
use crate::harness::{Db, Random, long};

const SESSIONS: usize = 6;

/// On a busy machine a storm takes longer, until it was one.
const STARTS: usize = 100;

/// Lets sessions do these things for a while; says how often each took effect.
async fn storm(actions: Actions, seconds: u64) -> (Db, BTreeMap<&'static str, usize>) {
    let db = Db::with(&flow("m map")).await;
    let mut random = Random::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    let starts: Arc<AtomicUsize> = Arc::default();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        let seed = Random::from_seed(random.next());
        let starts = Arc::clone(&starts);
        let mut actor = Actor::new(db.session().await, seed, Arc::clone(&starts));
        sessions.push(tokio::spawn(async move {
            while Instant::now() < end || starts.load(Ordering::Relaxed) < STARTS {
                actor.act(actions).await;
            }
            actor.done
        }));
    }
    let mut done = BTreeMap::new();
    for session in sessions {
        for (action, times) in session.await.expect("refusals other than the expected ones") {
            *done.entry(action).or_default() += times;
        }
    }
    println!("{done:?}");
    (db, done)
}

async fn assert_all_took_effect(actions: Actions, seconds: u64) {
    let (db, done) = storm(actions, seconds).await;
    assert_no_deadlocks(&db).await;
    db.check().await;
    for (action, _) in actions {
        assert!(done.contains_key(action), "{action} never took effect: this proves nothing");
    }
}

#[tokio::test]
async fn maintenance_of_the_same_runs_never_deadlocks() {
    assert_all_took_effect(MAINTENANCE, if long() { 30 } else { 5 }).await;
}

#[tokio::test]
async fn replacing_their_flow_meanwhile_never_deadlocks() {
    assert_all_took_effect(REPLACING, if long() { 30 } else { 5 }).await;
}

/// All functions beside all others, with attempts and without. Ten minutes in the long mode.
#[tokio::test]
async fn everything_beside_everything_never_deadlocks() {
    assert_all_took_effect(EVERYTHING, if long() { 600 } else { 10 }).await;
}
