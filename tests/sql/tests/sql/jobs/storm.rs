//! Everything at once: random transitions in many sessions. The invariants hold, and nobody deadlocks.

use super::assert_no_deadlocks;
use crate::harness::{Db, Random, Session, long};

const SESSIONS: u64 = 6;

/// One random transition. A worker's claim is a transaction of its own, as a worker's is.
async fn step(session: &mut Session, random: &mut Random, name: &str) {
    let (need, key) = (random.below(4), random.below(3));
    match random.below(8) {
        0..=2 => {
            let edge = if random.below(2) == 0 {
                format!(
                    ", edge_jobs => array[2], dependencies => array['{name}a'], policies => array[(array['release', 'fail', 'cancel'])[{}]]",
                    1 + random.below(3)
                )
            } else {
                String::new()
            };
            session
                .run(&format!(
                    "select pgflow.submit_jobs(array['{name}a', '{name}b'], array['n{need}', 'n{key}'], keys => array['k{key}', null],
                       priorities => array[{need}, 0], max_attempts => array[3, null]{edge})"
                ))
                .await;
        }
        3 => {
            let ids = format!("array(select id from pgflow.jobs where seq % 5 = {need} limit 3)");
            session.run(&format!("select pgflow.cancel_jobs({ids})")).await;
        }
        4 => session.run("select pgflow.sweep_jobs()").await,
        way => {
            let claim = format!(
                "select id, token from pgflow.claim_jobs('w', array['n{need}', 'n{key}'], 1, 3)"
            );
            let taken = session.rows(&claim).await;
            let (ids, tokens): (Vec<_>, Vec<_>) =
                taken.iter().filter_map(|row| row.split_once('|')).unzip();
            if ids.is_empty() {
                return;
            }
            let (list_of_ids, tokens) = (super::list(&ids), super::list(&tokens));
            let statement = match way {
                // As a worker's trip does: it settles, and claims in the same transaction.
                5 => format!(
                    "select pgflow.settle_and_claim_all(job_ids => {list_of_ids}, job_tokens => {tokens},
                       job_verdicts => array_fill('finished'::text, array[{}]), worker => 'w', qty => 2,
                       wanted_needs => array['n{key}', 'n{need}'], wanted_parts => array[1, 1], part_seconds => array[1], part_quotas => array[2])",
                    ids.len()
                ),
                6 => format!("select pgflow.fail_jobs({list_of_ids}, {tokens}, {list_of_ids})"),
                _ => format!(
                    "select pgflow.reschedule_jobs({list_of_ids}, {tokens}, array_fill('n{key}'::text, array[{}]),
                       edge_jobs => array[1], dependencies => array[coalesce((select id from pgflow.jobs where id <> all ({list_of_ids})
                         and state in ('ready', 'parked') order by id desc limit 1), 'nobody')])",
                    ids.len()
                ),
            };
            if let Err(failure) = session.ask(&statement).await {
                let problem = failure.detail.clone().unwrap_or_default();
                assert!(
                    problem.contains("ring") || problem.contains("unknown_dependency"),
                    "{failure}: {problem}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_storm_of_transitions_keeps_the_invariants() {
    let db = Db::new().await;
    let rounds = if long() { 2000 } else { 120 };
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let mut session = db.session().await;
        sessions.push(tokio::spawn(async move {
            let mut random = Random::from_seed(number + 1);
            for round in 0..rounds {
                step(&mut session, &mut random, &format!("j{number}-{round}-")).await;
            }
        }));
    }
    for session in sessions {
        session.await.expect("a session ended badly");
    }
    assert_no_deadlocks(&mut db.session().await).await;
    db.check().await;
    db.run("select pgflow.sweep_jobs()").await;
    db.check().await;
}
