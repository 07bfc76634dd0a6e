//! Rings that several sessions would close together: one of them is refused.

use super::races::pairs;
use crate::harness::{Db, Failure, long};

fn rounds() -> usize {
    if long() { 3000 } else { 100 }
}

fn hand_over(job: &str, to: &str, round: usize) -> String {
    format!(
        "select outcome from pgflow.reschedule_jobs(array['{job}{round}'], (select array[token] from public.lease where id = '{job}{round}'), array['m'],
           edge_jobs => array[1], dependencies => array['{to}{round}'])"
    )
}

fn submit(job: &str, other: &str, round: usize) -> String {
    format!(
        "select pgflow.submit_jobs(array['{job}{round}'], array['n'], edge_jobs => array[1], dependencies => array['{other}{round}'])"
    )
}

async fn leased(db: &Db, names: &[&str]) {
    let last = rounds() - 1;
    for name in names {
        db.run(&format!("select pgflow.submit_jobs(array(select '{name}' || i from generate_series(0, {last}) i), array_fill('n'::text, array[{last} + 1]))")).await;
    }
    db.run("create table public.lease as select * from pgflow.claim_jobs('w', array['n'], 3600, 100000); alter table public.lease add primary key (id)").await;
}

fn closes_a_ring(failure: &Failure) -> bool {
    failure.detail.as_deref().is_some_and(|detail| detail.contains("\"ring\""))
}

#[tokio::test]
async fn of_two_hand_overs_that_close_a_ring_one_is_refused() {
    let db = Db::new().await;
    leased(&db, &["a", "b"]).await;
    let answers = pairs(
        &db,
        rounds(),
        |round| hand_over("a", "b", round),
        |round| hand_over("b", "a", round),
    )
    .await;
    for round in 0..rounds() {
        let both = [&answers[round], &answers[rounds() + round]];
        let refused: Vec<_> = both.into_iter().filter_map(|answer| answer.as_ref().err()).collect();
        assert!(refused.len() == 1 && closes_a_ring(refused[0]), "{round}: {both:?}");
    }
    db.check().await;
}

/// The third side is there: only together would the two others close it.
#[tokio::test]
async fn a_longer_ring_is_refused_too() {
    let db = Db::new().await;
    leased(&db, &["a", "b"]).await;
    let last = rounds() - 1;
    db.run(&format!("select pgflow.submit_jobs(array(select 'c' || i from generate_series(0, {last}) i), array_fill('m'::text, array[{last} + 1]),
        edge_jobs => array(select i from generate_series(1, {last} + 1) i), dependencies => array(select 'b' || i from generate_series(0, {last}) i))")).await;
    let answers = pairs(
        &db,
        rounds(),
        |round| hand_over("a", "c", round),
        |round| hand_over("b", "a", round),
    )
    .await;
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(refused.clone().all(closes_a_ring), "{answers:?}");
    assert_eq!(refused.count(), rounds());
    db.check().await;
}

/// A job that is only being submitted is nothing to wait for.
#[tokio::test]
async fn two_submissions_cannot_wait_for_each_other() {
    let db = Db::new().await;
    let answers = pairs(&db, rounds(), |i| submit("a", "b", i), |i| submit("b", "a", i)).await;
    let unknown = |failure: &Failure| {
        failure.detail.as_deref().is_some_and(|detail| detail.contains("unknown_dependency"))
    };
    assert!(answers.iter().all(|answer| answer.as_ref().is_err_and(unknown)), "{answers:?}");
    db.check().await;
}
