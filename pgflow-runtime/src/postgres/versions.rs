//! Which versions of a program's flows the database has, and what waits on them.

mod report;
mod shapes;

use std::fmt;
use std::time::Duration;

use pgflow_model::Change;
use sqlx::PgPool;

pub use report::VersionError;

use crate::{FlowDef, Registry};

/// The versions of a program's flows, as they are in the database.
#[derive(Clone, Debug)]
pub struct Versions {
    /// Every version that is there, by flow and number.
    pub known: Vec<FlowVersion>,
    /// What the program has code for and the database does not know: a migration is missing.
    pub missing: Vec<&'static FlowDef>,
}

/// A version of a flow, as it is in the database.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowVersion {
    /// Name of the flow.
    pub flow: String,
    /// Number of the version.
    pub version: u32,
    /// Name of the version, and of its queue.
    pub slug: String,
    /// Whether new runs use it.
    pub is_current: bool,
    /// Whether the program has code for it.
    pub is_served: bool,
    /// Runs with tasks that wait or are being worked on.
    pub open_runs: u64,
    /// Those tasks.
    pub open_tasks: u64,
    /// How long the oldest of them has been there.
    pub oldest: Option<Duration>,
    /// What leads from the database's graph to the program's, if it has code of this very version.
    /// Options do not count: they can be tuned in the database.
    pub differences: Vec<Change>,
}

impl Versions {
    /// Versions with open runs that the program has no code for: it leaves them alone, and they
    /// wait for a worker that has.
    pub fn waiting(&self) -> impl Iterator<Item = &FlowVersion> {
        self.known.iter().filter(|version| !version.is_served && version.open_tasks > 0)
    }
}

impl fmt::Display for FlowVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flow, version, open_runs, open_tasks, .. } = self;
        let code = if self.is_served { "" } else { ", and this program has no code for them" };
        write!(
            f,
            "version {version} of flow `{flow}` has {open_runs} open runs with {open_tasks} open tasks{code}"
        )
    }
}

/// A row of `pgflow.get_flow_versions`.
type Row = (String, i32, String, bool, i64, i64, Option<f64>);

/// Looks up the versions of a program's flows. Reads queues and no history, so it is cheap; a worker
/// calls it when it starts, says what it found, and stops if that is not what it has code for.
///
/// ```no_run
/// # async fn example(registry: pgflow_runtime::Registry) -> Result<(), Box<dyn std::error::Error>> {
/// let pool = sqlx::PgPool::connect("postgres://localhost/app").await?;
/// let versions = pgflow_runtime::postgres::versions(&pool, &registry).await?;
/// eprint!("{versions}");
/// versions.verify()?;
/// # Ok(())
/// # }
/// ```
pub async fn versions(pool: &PgPool, registry: &Registry) -> Result<Versions, sqlx::Error> {
    let names: Vec<&str> = registry.flows().map(|flow| flow.slug).collect();
    let rows: Vec<Row> = sqlx::query_as(
        "select flow_name, version, flow_slug, is_current, open_runs, open_tasks,
                extract(epoch from clock_timestamp() - oldest_at)::float8
           from pgflow.get_flow_versions($1)",
    )
    .bind(names)
    .fetch_all(pool)
    .await?;
    let flows: Vec<&FlowDef> = registry.flows().collect();
    let mut differences = shapes::differences(pool, &flows).await?;
    let served = registry.served();
    let known: Vec<_> = rows
        .into_iter()
        .map(|(flow, version, slug, is_current, open_runs, open_tasks, oldest)| FlowVersion {
            differences: differences.remove(&slug).unwrap_or_default(),
            is_served: served.iter().any(|served| served.slug() == slug),
            flow,
            version: version.unsigned_abs(),
            slug,
            is_current,
            open_runs: open_runs.unsigned_abs(),
            open_tasks: open_tasks.unsigned_abs(),
            oldest: oldest.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        })
        .collect();
    let is_missing = |flow: &&FlowDef| known.iter().all(|known| known.slug != flow.version_slug);
    let missing = registry.flows().filter(is_missing).collect();
    Ok(Versions { known, missing })
}
