//! C70: the same commands lead to the same answers, states and logs on every backend.

use std::sync::Arc;

use pgflow_conformance::Subject;
use pgflow_conformance::differential::{
    compare, compare_jobs, compare_pipelines, replay_concurrent, seed_from_env, sequences_from_env,
};
use pgflow_conformance::subjects::{InMemory, OnMySql, OnPostgres, SqliteFile};

async fn compare_all(subjects: &[Arc<dyn Subject>], default: u64) {
    let (name, seed) = (subjects[0].name(), seed_from_env());
    println!("{name}: PGFLOW_TEST_SEED={seed}");
    match compare(subjects, seed, sequences_from_env(default)).await {
        Ok(compared) => println!("{name}: {compared:?}"),
        Err(difference) => panic!("{difference}"),
    }
}

/// Memory with itself: what is drawn is the same each time, and so is what memory does.
#[tokio::test(flavor = "multi_thread")]
async fn memory_is_deterministic() {
    compare_all(&[Arc::new(InMemory)], 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_does_what_memory_does() {
    compare_all(&[Arc::new(SqliteFile::new()), Arc::new(SqliteFile::new())], 500).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_does_what_memory_does() {
    compare_all(&[Arc::new(OnMySql::new()), Arc::new(OnMySql::new())], 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_does_what_memory_does() {
    compare_all(&[Arc::new(OnPostgres::new()), Arc::new(OnPostgres::new())], 200).await;
}

async fn compare_all_jobs(subject: Arc<dyn Subject>, default: u64) {
    let (name, seed) = (subject.name(), seed_from_env());
    println!("jobs on {name}: PGFLOW_TEST_SEED={seed}");
    match compare_jobs(&subject, seed, sequences_from_env(default)).await {
        Ok(compared) => println!("jobs on {name}: {compared:?}"),
        Err(difference) => panic!("{difference}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_on_memory_are_deterministic() {
    compare_all_jobs(Arc::new(InMemory), 300).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_on_sqlite_do_what_memory_does() {
    compare_all_jobs(Arc::new(SqliteFile::new()), 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_on_postgres_do_what_memory_does() {
    compare_all_jobs(Arc::new(OnPostgres::new()), 60).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_on_mysql_do_what_memory_does() {
    compare_all_jobs(Arc::new(OnMySql::new()), 60).await;
}

async fn compare_all_pipelines(subject: Arc<dyn Subject>, default: u64) {
    let (name, seed) = (subject.name(), seed_from_env());
    println!("pipelines on {name}: PGFLOW_TEST_SEED={seed}");
    match compare_pipelines(&subject, seed, sequences_from_env(default)).await {
        Ok(compared) => println!("pipelines on {name}: {compared:?}"),
        Err(difference) => panic!("{difference}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelines_on_memory_are_deterministic() {
    compare_all_pipelines(Arc::new(InMemory), 300).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelines_on_sqlite_do_what_memory_does() {
    compare_all_pipelines(Arc::new(SqliteFile::new()), 150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelines_on_postgres_do_what_memory_does() {
    compare_all_pipelines(Arc::new(OnPostgres::new()), 60).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelines_on_mysql_do_what_memory_does() {
    compare_all_pipelines(Arc::new(OnMySql::new()), 60).await;
}

/// Workers beside each other, and the machine after them.
async fn replay_all(subject: Arc<dyn Subject>, default: u64) {
    let (name, seed, count) = (subject.name(), seed_from_env(), sequences_from_env(default));
    println!("concurrent on {name}: PGFLOW_TEST_SEED={seed}");
    let mut events = 0;
    for seed in (0..count).map(|n| seed.wrapping_add(n)) {
        match replay_concurrent(&*subject, seed).await {
            Ok(more) => events += more,
            Err(difference) => panic!("{difference}"),
        }
    }
    println!("concurrent on {name}: {events} events of {count} flows");
    assert!(events >= 20 * count, "only {events} events: hardly anything happened");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_on_memory_are_what_the_machine_says() {
    replay_all(Arc::new(InMemory), 40).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_on_sqlite_are_what_the_machine_says() {
    replay_all(Arc::new(SqliteFile::new()), 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_on_mysql_are_what_the_machine_says() {
    replay_all(Arc::new(OnMySql::new()), 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_on_postgres_are_what_the_machine_says() {
    replay_all(Arc::new(OnPostgres::new()), 10).await;
}
