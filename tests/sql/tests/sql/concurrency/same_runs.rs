//! Everything that can be done to a run, done to the same few runs from several sessions at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::race::assert_no_deadlocks;
use super::same_runs_actor::{Actions, Actor, MAINTENANCE, REPLACING, everything, flow};
use super::same_runs_besides::EXCUSED;
use crate::harness::{Db, Random, long};

const SESSIONS: usize = 6;

/// On a busy machine a storm takes longer, until it was one.
const STARTS: usize = 100;

/// Lets sessions do these things for a while; says how often each took effect.
async fn storm(actions: Actions<'_>, seconds: u64) -> (Db, BTreeMap<&'static str, usize>) {
    let db = Db::with(&flow("m map")).await;
    let mut random = Random::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    let starts: Arc<AtomicUsize> = Arc::default();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        let seed = Random::from_seed(random.next());
        let starts = Arc::clone(&starts);
        let actions = actions.to_vec();
        let mut actor = Actor::new(db.session().await, seed, Arc::clone(&starts));
        sessions.push(tokio::spawn(async move {
            while Instant::now() < end || starts.load(Ordering::Relaxed) < STARTS {
                actor.act(&actions).await;
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

async fn assert_all_took_effect(actions: Actions<'_>, seconds: u64) {
    let (db, done) = storm(actions, seconds).await;
    assert_no_deadlocks(&db).await;
    db.check().await;
    let idle: Vec<_> = actions.iter().filter(|(action, _)| !done.contains_key(action)).collect();
    // Some need others to come first, and in a short time that may not be.
    let spare = if long() { 0 } else { actions.len() / 30 };
    assert!(idle.len() <= spare, "{idle:?} never took effect: this proves nothing");
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
    assert_all_took_effect(&everything(), if long() { 600 } else { 15 }).await;
}

/// What the catalog says of a function that may lock something is done above, or nobody needs to.
#[tokio::test]
async fn everything_is_all_there_is() {
    let db = Db::with(&flow("m map")).await;
    let mut actor = Actor::new(db.session().await, Random::new(), Arc::default());
    let statements: String =
        everything().iter().map(|(action, _)| actor.statement(action)).collect();
    let called = |name: &str| statements.contains(&format!("pgflow.{name}("));
    let excused: BTreeSet<_> = EXCUSED.iter().map(|(name, _)| *name).collect();
    // What begins with an underscore is a part of others, unless somebody may call it; what is stable can write nothing.
    let all = db
        .rows(
            "select distinct p.proname from pg_proc p
              where p.pronamespace = 'pgflow'::regnamespace and p.provolatile = 'v' and p.prorettype <> 'trigger'::regtype
                and (p.proname !~ '^_' or exists (select from aclexplode(p.proacl) a where a.grantee <> p.proowner))",
        )
        .await;
    assert!(all.len() > 90, "{all:?}");
    let missing: Vec<_> =
        all.iter().filter(|name| !called(name) && !excused.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "never done beside others: {missing:?}");
    let idle: Vec<_> = excused
        .iter()
        .filter(|name| called(name) || !all.iter().any(|found| found == *name))
        .collect();
    assert!(idle.is_empty(), "need no excuse: {idle:?}");
}
