//! Keys whose holders die: at no moment are two leases of one key valid, whoever claims and whatever became of the last.

use std::time::{Duration, Instant};

use super::{assert_no_deadlocks, list, live};
use crate::harness::{Db, Random, Session, long};

const CLAIMERS: u64 = 8;
const KEYS: u32 = 5;
const PATIENCE: Duration = Duration::from_mins(5);

/// Claims for a second, and notes who has which key: that fails to be noted if another lease of the key is still valid.
fn claim(number: u64) -> String {
    format!(
        "with c as materialized (
           select id, token, key, lease_until from pgflow.claim_jobs('w{number}', array['n{number}', 'n{}'], 1, 3)
         ), h as (
           insert into public.held select key, lease_until from c
           on conflict (key) do update set until = excluded.until where held.until <= clock_timestamp() returning key
         )
         select id, token, (select count(*) from h) = (select count(*) from c) from c",
        (number + 1) % CLAIMERS
    )
}

/// Gives the keys back with the jobs, in one transaction.
fn finish(ids: &[&str], tokens: &[&str]) -> String {
    let (ids, tokens) = (list(ids), list(tokens));
    format!(
        "with gone as (
           delete from public.held h using pgflow.jobs j
            where j.id = any ({ids}) and j.token::text = any ({tokens}) and h.key = j.key and h.until = j.lease_until
         )
         select pgflow.finish_jobs({ids}, {tokens})"
    )
}

/// One claim and what became of it: finished, forgotten until its lease runs out, or undone with its connection.
async fn work(db: &Db, session: &mut Session, random: &mut Random, number: u64) {
    let fate = random.below(10);
    if fate == 0 {
        session.run(&format!("begin; {}", claim(number))).await;
        let killed = session.ask("select pg_terminate_backend(pg_backend_pid())").await;
        assert!(killed.is_err(), "still there: {killed:?}");
        *session = db.session().await;
        return;
    }
    let rows = session.rows(&claim(number)).await;
    let parts: Vec<Vec<&str>> = rows.iter().map(|row| row.split('|').collect()).collect();
    assert!(parts.iter().all(|row| row[2] == "t"), "a key is leased twice: {rows:?}");
    let (ids, tokens): (Vec<&str>, Vec<&str>) = parts.iter().map(|row| (row[0], row[1])).unzip();
    if fate > 2 && !ids.is_empty() {
        session.run(&finish(&ids, &tokens)).await;
    }
}

#[tokio::test]
async fn no_key_is_leased_twice_when_its_holders_die() {
    let db = std::sync::Arc::new(Db::new().await);
    let jobs = if long() { 4000 } else { 240 };
    db.run("select pgflow.set_job_settings(crash_threshold => 1000000); create table public.held (key text primary key, until timestamptz not null)").await;
    db.run(&format!(
        "select pgflow.submit_jobs(array(select 'j' || i from generate_series(1, {jobs}) i),
           array(select 'n' || i % {CLAIMERS} from generate_series(1, {jobs}) i), keys => array(select 'k' || i % {KEYS} from generate_series(1, {jobs}) i))"
    ))
    .await;
    let end = Instant::now() + PATIENCE * if long() { 10 } else { 1 };
    let mut claimers = Vec::new();
    for number in 0..CLAIMERS {
        let (db, mut session) = (std::sync::Arc::clone(&db), db.session().await);
        claimers.push(tokio::spawn(async move {
            let mut random = Random::from_seed(number + 1);
            while session.one("select count(*) from pgflow.jobs").await != "0" {
                assert!(Instant::now() < end, "jobs are left over");
                work(&db, &mut session, &mut random, number).await;
            }
        }));
    }
    for claimer in claimers {
        claimer.await.expect("a claimer ended badly");
    }
    assert_eq!(live(&db).await, [""; 0]);
    assert_eq!(
        db.one("select count(*) from pgflow.job_archive where outcome = 'done'").await,
        jobs.to_string()
    );
    assert_no_deadlocks(&mut db.session().await).await;
    db.check().await;
}
