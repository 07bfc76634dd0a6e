//! Rings of jobs that are longer than what servers walk by themselves.

use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobClaim, JobProblem, JobSettle, JobSettled, JobVerdict, NewJob, Wait,
};
use pgflow_runtime::backend::{Backend, Jobs};
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions};
use serde_json::json;
use sqlx::{Connection, MySqlConnection};

fn name(at: usize) -> String {
    format!("j{at}")
}

/// Jobs of which each waits for the one before.
async fn chain(jobs: &dyn Jobs, length: usize) {
    let job = |at: usize| {
        let before =
            at.checked_sub(1).map(|before| Wait::job(name(before).parse().expect("a name")));
        let after = before.into_iter().collect();
        NewJob { after, ..NewJob::new(name(at).parse().expect("a name"), "n", json!(at)) }
    };
    let all: Vec<_> = (0..length).map(job).collect();
    for part in all.chunks(500) {
        let submitted = jobs.submit_jobs(part, "test").await.expect("an answer");
        assert!(submitted.iter().all(Result::is_ok), "{submitted:?}");
    }
}

async fn sentences(mysql: &MySql) -> Vec<String> {
    mysql.check().await.expect("the checker runs")
}

/// What the server would do by itself does not matter.
#[tokio::test(flavor = "multi_thread")]
async fn a_ring_is_refused_however_early_the_server_ends_a_walk() {
    let extra = vec![("max-recursive-iterations".to_owned(), "10".to_owned())];
    let options = MariaDbOptions { extra: extra.into_iter().collect(), ..Default::default() };
    let server = MariaDb::start(&options).expect("the server starts");
    let mysql = MySql::connect(&MariaDbDatabase::new_on(&server).url()).await.expect("it is there");
    mysql.migrate().await.expect("it gets its schema");
    let jobs = mysql.jobs().expect("it has jobs");
    chain(jobs, 50).await;
    let lease = Duration::from_mins(1);
    let claim = JobClaim { worker: "w".into(), needs: vec!["n".into()], lease, max: 9 };
    let first = jobs.claim_jobs(&claim).await.expect("an answer").jobs.remove(0);
    let after = vec![Wait::job(name(49).parse().expect("a name"))];
    let onward = JobVerdict::HandedOver(HandOver { after, ..HandOver::to("n") });
    let settle = [JobSettle::new(first.taken.hold, onward)];
    let settled = jobs.settle_jobs(&settle, "w").await.expect("an answer");
    assert!(matches!(settled[..], [JobSettled::Refused(JobProblem::Ring(_))]), "{settled:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_ring_is_found_by_the_check() {
    const LENGTH: usize = 1_100;
    let database = MariaDbDatabase::new().await;
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    chain(mysql.jobs().expect("it has jobs"), LENGTH).await;
    assert_eq!(sentences(&mysql).await, Vec::<String>::new(), "a chain is no ring");
    let mut own = MySqlConnection::connect(&database.url()).await.expect("a connection");
    let closes = "insert into pgflow_job_edges (kind, dependency, waiter, policy) values ('job', ?, 'j0', 'release')";
    let closing = sqlx::query(closes).bind(name(LENGTH - 1).into_bytes());
    closing.execute(&mut own).await.expect("it can be broken");
    let found = sentences(&mysql).await;
    let said = "waits for itself, through others";
    let in_ring = found.iter().filter(|sentence| sentence.contains(said)).count();
    assert_eq!(in_ring, LENGTH, "{found:?}");
}
