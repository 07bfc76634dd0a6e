//! Runs in flight while a flow changes: each finishes on the version it started with.

mod v1;
mod v2;

use pgflow_build_tests::{Run, Scratch, all_ended, start};
use pgflow_runtime::backend::Definitions;
use pgflow_runtime::postgres::Postgres;
use pgflow_runtime::worker::WorkerError;
use pgflow_runtime::{Db, Worker};
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
        let worker = Worker::new(&Db::new(self.postgres().await)).flow(flow);
        worker.run(std::future::pending()).await.expect_err("it does not fit")
    }

    /// Lets a worker with this code work until none of its runs is open; says what was done, sorted.
    async fn work(&self, code: &[Code]) -> Vec<String> {
        let before = self.completed().await;
        let db = Db::new(self.postgres().await);
        let worker = code.iter().fold(Worker::new(&db), |worker, code| match code {
            Code::Old => worker.flow(v1::parcel::Flow),
            Code::New => worker.flow(v2::parcel::Flow),
        });
        let slugs = code.iter().map(|code| code.slug()).collect();
        worker.run(all_ended(self.db.pool.clone(), slugs)).await.expect("it works");
        let mut done = self.completed().await;
        done.retain(|task| !before.contains(task));
        let mut done: Vec<_> = done.into_iter().map(|(_, task)| task).collect();
        done.sort();
        done
    }

    /// Tasks that are done: which one, and `flow/step`.
    async fn completed(&self) -> Vec<(String, String)> {
        let tasks = "select run_id || step_slug || task_index, flow_slug || '/' || step_slug
            from pgflow.step_tasks where status = 'completed'";
        sqlx::query_as(tasks).fetch_all(&self.db.pool).await.expect("tasks")
    }

    /// A worker does one task of the old version, and is gone.
    async fn do_one_task(&self) {
        let done = "select pgflow.complete_task(c.run_id, c.step_slug, c.task_index, '3'::jsonb, c.attempt)
            from pgflow.claim_tasks(array['parcel'], 1) c";
        sqlx::raw_sql(done).execute(&self.db.pool).await.expect("a task is done");
    }

    async fn now(&self, run: &Run) -> (String, String) {
        let run = run.now(&self.db.pool).await.expect("the run");
        let output = run.output.map_or_else(String::new, |output| output.to_string());
        (run.status, output)
    }
}

/// What a program has.
#[derive(Clone, Copy)]
enum Code {
    Old,
    New,
}

impl Code {
    fn slug(self) -> &'static str {
        match self {
            Self::Old => "parcel",
            Self::New => "parcel__v2",
        }
    }
}

fn completed(output: &str) -> (String, String) {
    ("completed".to_owned(), format!("{{\"send\":{output:?}}}"))
}

#[tokio::test]
async fn old_runs_finish_on_the_old_shape_and_new_ones_use_the_new() {
    let shop = Deployment::of_v1().await;
    let (before, half_done) = (shop.start().await, shop.start().await);
    shop.do_one_task().await;
    shop.deploy_v2().await;
    let after = shop.start().await;
    assert_eq!([&before.flow_slug, &after.flow_slug], ["parcel", "parcel__v2"]);

    let did = shop.work(&[Code::Old]).await;
    assert!(did.iter().all(|task| task.starts_with("parcel/")), "{did:?}");
    assert_eq!(shop.now(&before).await, completed("sent, stamped 3 g"));
    assert_eq!(shop.now(&half_done).await, completed("sent, stamped 3 g"));
    assert_eq!(shop.now(&after).await.0, "started");

    let did = shop.work(&[Code::New]).await;
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
    shop.work(&[Code::New]).await;
    for run in &runs {
        assert_eq!(shop.now(run).await.0, "started");
    }
    assert_eq!(shop.versions().await, [(1, false, 2, 2), (2, true, 0, 0)]);

    shop.work(&[Code::Old]).await;
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
    tokio::join!(shop.work(&[Code::Old]), shop.work(&[Code::New]));
    let done = "select flow_slug, count(*), count(distinct last_worker_id) from pgflow.step_tasks
        where status = 'completed' group by 1 order by 1";
    let done: Vec<(String, i64, i64)> =
        sqlx::query_as(done).fetch_all(&shop.db.pool).await.expect("tasks");
    assert_eq!(done, [("parcel".to_owned(), 30, 1), ("parcel__v2".to_owned(), 40, 1)]);
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
    shop.work(&[Code::Old, Code::New]).await;
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
