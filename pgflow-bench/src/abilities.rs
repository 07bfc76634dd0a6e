//! Which functions a core has.

use serde::Serialize;
use sqlx::PgConnection;

use crate::args::Protocol;
use crate::error::{BenchError, Doing, Result};

/// What can be asked of a core beyond the published functions.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Abilities {
    /// Flows at all: a database may have jobs alone.
    pub(crate) flows: bool,
    /// `pgflow.submit_jobs` and what belongs to it.
    pub(crate) jobs: bool,
    /// `pgwf.submit_job` and what belongs to it.
    pub(crate) pgwf: bool,
    /// `start_run`, `claim_tasks` and `complete_tasks`.
    pub(crate) batches: bool,
    /// `check()`, which returns the invariants that do not hold.
    pub(crate) check: bool,
    /// `delete_flow_and_data`.
    pub(crate) delete_flow: bool,
}

const REQUIRED: [&str; 5] =
    ["create_flow", "add_step", "start_flow", "start_tasks", "complete_task"];

impl Abilities {
    pub(crate) async fn detect(conn: &mut PgConnection, target: &str) -> Result<Self> {
        let names: Vec<String> = sqlx::query_scalar(
            "select case n.nspname when 'pgflow' then p.proname::text else format('%s.%s', n.nspname, p.proname) end
             from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('pgflow', 'pgwf')",
        )
        .fetch_all(conn)
        .await
        .doing("looking at the core's functions")?;
        let has = |name: &str| names.iter().any(|found| found == name);
        let missing = REQUIRED.into_iter().find(|name| !has(name));
        let pgwf = has("pgwf.submit_job");
        if let Some(missing) = missing.filter(|_| !pgwf) {
            return Err(BenchError::NoCore { target: target.to_owned(), missing });
        }
        Ok(Self {
            flows: missing.is_none(),
            jobs: has("submit_jobs"),
            pgwf,
            batches: ["start_run", "claim_tasks", "complete_tasks"].into_iter().all(has),
            check: has("check"),
            delete_flow: has("delete_flow_and_data"),
        })
    }

    /// The ways to drive its jobs.
    pub(crate) fn of_jobs(self) -> Vec<Protocol> {
        let arrays = self.jobs.then_some(Protocol::Batched);
        arrays.into_iter().chain(self.pgwf.then_some(Protocol::Published)).collect()
    }

    /// The best way to drive it.
    pub(crate) fn preferred(self) -> Protocol {
        if self.batches { Protocol::Batched } else { Protocol::Published }
    }
}
