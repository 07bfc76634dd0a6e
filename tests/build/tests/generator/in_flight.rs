//! Runs in flight while a flow changes: each finishes on the version it started with.

mod v1;
mod v2;

use pgflow::Registry;
use pgflow_build_tests::{Run, Scratch, Worker, start};
use pgflow_runtime::Db;
use pgflow_runtime::backend::Definitions;
use pgflow_runtime::postgres::Postgres;
use pgflow_runtime::worker::WorkerError;
use pgflow_test_support::TestDb;
use serde_json::json;

const V1: &str = include_str!("in_flight/v1.rs");
const V2: &str = include_str!("in_flight/v2.rs");

/// A database, and a crate whose flow is deployed to it.
struct Deployment {
    db: TestDb,
    scratch: Scratch,
}

impl Deployment {
    async fn of_v1() -> Self {
        let deployment = Self { db: TestDb::new().await, scratch: Scratch::new(&[]) };
        deployment.deploy(V1, &["0001_create_parcel.sql", "pgflow.lock"]).await;
        deployment
    }

    async fn deploy_v2(&self) {
        self.deploy(V2, &["0002_create_parcel_v2.sql", "pgflow.lock"]).await;
    }

    /// Writes the migrations for a source, and applies them.
    async fn deploy(&self, source: &str, expected: &[&str]) {
        let source = source.replace("version = 1, ", "").replace("version = 2, ", "");
        self.scratch.write("src/lib.rs", &source);
        let written = self.scratch.migrate();
        assert_eq!(written, expected);
        let sql = self.scratch.files()[&written[0]].clone();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&self.db.pool).await.expect("applied");
    }

    async fn start(&self) -> Run {
        start(&self.db.pool, "parcel", &json!([1, 2])).await.expect("a run")
    }

    /// Number, whether new runs use it, open runs and open tasks of each version.
    async fn versions(&self) -> Vec<(u32, bool, u64, u64)> {
        let known = self.postgres().await.versions(&["parcel"]).await.expect("versions");
        let parts = known.iter().map(|v| (v.version, v.is_current, v.open_runs, v.open_tasks));
        parts.collect()
    }

    async fn postgres(&self) -> Postgres {
        Postgres::with_pool(self.db.pool.clone()).await.expect("a backend")
    }

    /// What a real worker says that has the code of a flow, and cannot start.
    async fn refusal(&self, flow: impl pgflow::Flow) -> WorkerError {
        let worker = pgflow_runtime::Worker::new(&Db::new(self.postgres().await)).flow(flow);
        worker.run(std::future::pending()).await.expect_err("it does not fit")
    }

    fn worker(&self, registry: &Registry) -> Worker {
        Worker::new(&self.db.pool, registry)
    }

    async fn now(&self, run: &Run) -> (String, String) {
        let run = run.now(&self.db.pool).await.expect("the run");
        let output = run.output.map_or_else(String::new, |output| output.to_string());
        (run.status, output)
    }
}

fn old() -> Registry {
    Registry::default().with(v1::parcel::Flow).expect("a registry")
}

fn new() -> Registry {
    Registry::default().with(v2::parcel::Flow).expect("a registry")
}

fn completed(output: &str) -> (String, String) {
    ("completed".to_owned(), format!("{{\"send\":{output:?}}}"))
}

#[tokio::test]
async fn old_runs_finish_on_the_old_shape_and_new_ones_use_the_new() {
    let shop = Deployment::of_v1().await;
    let (before, half_done) = (shop.start().await, shop.start().await);
    shop.worker(&old()).work_once(1).await.expect("work");
    shop.deploy_v2().await;
    let after = shop.start().await;
    assert_eq!([&before.flow_slug, &after.flow_slug], ["parcel", "parcel__v2"]);

    let did = shop.worker(&old()).work().await.expect("work");
    assert!(did.iter().all(|task| task.starts_with("parcel/")), "{did:?}");
    assert_eq!(shop.now(&before).await, completed("sent, stamped 3 g"));
    assert_eq!(shop.now(&half_done).await, completed("sent, stamped 3 g"));
    assert_eq!(shop.now(&after).await.0, "started");

    let did = shop.worker(&new()).work().await.expect("work");
    let tasks = ["send", "unpack", "weigh", "weigh"].map(|step| format!("parcel__v2/{step}"));
    assert_eq!(did, tasks);
    assert_eq!(shop.now(&after).await, completed("sent [10, 20]"));
    shop.db.check().await;
}

#[tokio::test]
async fn a_worker_without_the_old_code_leaves_old_runs_visibly_waiting() {
    let shop = Deployment::of_v1().await;
    let runs = [shop.start().await, shop.start().await];
    shop.deploy_v2().await;
    shop.start().await;
    shop.worker(&new()).work().await.expect("work");
    for run in &runs {
        assert_eq!(shop.now(run).await.0, "started");
    }
    assert_eq!(shop.versions().await, [(1, false, 2, 2), (2, true, 0, 0)]);

    shop.worker(&old()).work().await.expect("work");
    assert_eq!(shop.versions().await, [(1, false, 0, 0), (2, true, 0, 0)]);
    shop.db.check().await;
}

#[tokio::test]
async fn workers_of_both_versions_work_side_by_side() {
    let shop = Deployment::of_v1().await;
    let mut runs = Vec::new();
    for _ in 0..10 {
        runs.push((shop.start().await, "sent, stamped 3 g"));
    }
    shop.deploy_v2().await;
    for _ in 0..10 {
        runs.push((shop.start().await, "sent [10, 20]"));
    }
    let (old, new) = (shop.worker(&old()), shop.worker(&new()));
    let (old, new) = tokio::join!(old.work(), new.work());
    assert_eq!((old.expect("work").len(), new.expect("work").len()), (30, 40));
    for (run, output) in &runs {
        assert_eq!(shop.now(run).await, completed(output));
    }
    shop.db.check().await;
}

#[tokio::test]
async fn a_program_can_keep_the_code_of_an_old_version() {
    let shop = Deployment::of_v1().await;
    let before = shop.start().await;
    shop.deploy_v2().await;
    let after = shop.start().await;
    let both = old().with(v2::parcel::Flow).expect("versions are flows of their own");
    shop.worker(&both).work().await.expect("work");
    assert_eq!(shop.now(&before).await, completed("sent, stamped 3 g"));
    assert_eq!(shop.now(&after).await, completed("sent [10, 20]"));
}

#[tokio::test]
async fn code_that_is_ahead_of_its_migrations_says_so() {
    let shop = Deployment::of_v1().await;
    let refusal = shop.refusal(v2::parcel::Flow).await;
    let slug = "parcel__v2";
    assert!(
        matches!(refusal, WorkerError::UnknownFlow { version: 2, slug: named, .. } if named == slug),
        "{refusal}"
    );
}

#[tokio::test]
async fn code_of_another_shape_than_the_database_says_so() {
    let shop = Deployment::of_v1().await;
    let change = "update pgflow.steps set when_exhausted = 'skip' where step_slug = 'stamp';
                  update pgflow.flows set opt_timeout = 17;
                  select pgflow.add_step('parcel', 'extra')";
    sqlx::raw_sql(change).execute(&shop.db.pool).await.expect("changed");
    let refusal = shop.refusal(v1::parcel::Flow).await.to_string();
    for word in ["xhausted", "extra"] {
        assert!(refusal.contains(word), "{refusal}");
    }
    assert!(!refusal.contains("17"), "options may be tuned: {refusal}");
}

#[tokio::test]
async fn options_reach_runs_in_flight() {
    let shop = Deployment::of_v1().await;
    let run = shop.start().await;
    let tuned = V1.replace("input = Vec<u32>", "input = Vec<u32>, timeout = 7").replace(
        "#[step(depends_on = [weigh])]",
        "#[step(depends_on = [weigh], max_attempts = 9)]",
    );
    shop.deploy(&tuned, &["0002_tune_parcel.sql", "pgflow.lock"]).await;
    let options: (i32, i32, Option<i32>) = sqlx::query_as(
        "select f.opt_timeout, f.opt_base_delay, s.opt_max_attempts
           from pgflow.runs r join pgflow.flows f using (flow_slug) join pgflow.steps s using (flow_slug)
          where r.run_id = $1 and s.step_slug = 'stamp'",
    )
    .bind(run.id)
    .fetch_one(&shop.db.pool)
    .await
    .expect("options");
    assert_eq!(options, (7, 5, Some(9)));
}

#[tokio::test]
async fn deleting_a_version_makes_the_one_before_current() {
    let shop = Deployment::of_v1().await;
    shop.deploy_v2().await;
    sqlx::query("select pgflow.delete_flow_and_data('parcel__v2')")
        .execute(&shop.db.pool)
        .await
        .expect("deleted");
    assert_eq!(shop.start().await.flow_slug, "parcel");
}
