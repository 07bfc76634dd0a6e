//! A database with a flow or two, and ways to spoil the connection to it.

#![forbid(unsafe_code)]

mod gate;
mod pooled;
mod wire;

pub use gate::Gate;
pub use pooled::{begun, leave_statements, without_settings};
pub use wire::Wire;

use std::time::Duration;

use pgflow_machine::{RunId, Settle, Verdict, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{
    BackendError, Claim, ClaimedTask, Definitions, FlowVersion, NewRun, Runs, Started, Wake, Wakes,
    Work,
};
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use pgflow_test_support::TestDb;
use serde_json::Value;

/// A database with the core, and a backend on it.
#[derive(Debug)]
pub struct Bench {
    /// The database.
    pub db: TestDb,
    /// The backend.
    pub postgres: Postgres,
}

impl Bench {
    /// With the flow `two`: `first`, then `second`.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn new() -> Self {
        let db = TestDb::new().await;
        let postgres = Postgres::connect(&db.url()).await.expect("cannot connect");
        let bench = Self { db, postgres };
        bench
            .define("two", [StepShape::new("first"), StepShape::new("second").after("first")])
            .await;
        bench
    }

    /// Another process, as it were.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn other(&self) -> Postgres {
        Postgres::connect(&self.db.url()).await.expect("cannot connect")
    }

    /// The defaults, for this database.
    pub fn options(&self) -> PostgresOptions {
        PostgresOptions::new(self.db.url())
    }

    /// Creates a flow.
    ///
    /// # Panics
    /// When it can't be created.
    pub async fn define(&self, slug: &str, steps: impl Into<Vec<StepShape>>) {
        let version = version(slug, steps);
        self.postgres.ensure_flow(&version).await.expect("cannot create a flow");
    }

    /// Starts a run of `two`.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(&self) -> RunId {
        start(&self.postgres, "two", Value::Null).await
    }

    /// Takes all tasks that are ready.
    ///
    /// # Panics
    /// When that fails.
    pub async fn claim(&self) -> Vec<ClaimedTask> {
        self.postgres.claim(&room(100)).await.expect("cannot claim").tasks
    }

    /// Runs a statement of a test's own.
    ///
    /// # Panics
    /// When that fails.
    pub async fn sql(&self, sql: &'static str) {
        sqlx::raw_sql(sql)
            .execute(&self.db.pool)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The first version of a flow.
pub fn version(slug: &str, steps: impl Into<Vec<StepShape>>) -> FlowVersion {
    let mut shape = FlowShape::new(slug);
    shape.steps = steps.into();
    FlowVersion { flow: slug.to_owned(), version: 1, slug: slug.to_owned(), shape }
}

/// Starts a run.
///
/// # Panics
/// When it does not start.
pub async fn start(postgres: &Postgres, flow: &str, input: Value) -> RunId {
    let id = RunId::new();
    let run = NewRun::new(flow, input, id);
    assert_eq!(postgres.start(run).await.expect("cannot start"), Started::Created);
    id
}

/// Room for so many tasks of any flow here.
pub fn room(max: u32) -> Claim {
    Claim::of_queues(["two", "map"], max, WorkerId::new())
}

/// The completion of a task.
pub fn done(task: &ClaimedTask, output: Value) -> Settle {
    Settle { lease: task.lease.clone().into(), verdict: Verdict::Completed(output) }
}

/// Whether this hint comes within a minute; others may come before it.
pub async fn comes(wakes: &mut Wakes, wanted: &Wake) -> bool {
    let hint = async { while wakes.next().await != *wanted {} };
    tokio::time::timeout(Duration::from_mins(1), hint).await.is_ok()
}

/// What an error is at the bottom.
pub fn cause(error: &BackendError) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
