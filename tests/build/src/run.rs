//! A run in the database.

use std::time::Duration;

use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

/// A run in the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its id.
    pub id: Uuid,
    /// The version of the flow that it belongs to.
    pub flow_slug: String,
    /// Whether it goes on.
    pub status: String,
    /// What its leaves put out.
    pub output: Option<Value>,
}

const COLUMNS: &str = "run_id, flow_slug, status, output";

/// Starts a run of the flow of this name.
pub async fn start(pool: &PgPool, flow: &str, input: &Value) -> Result<Run, sqlx::Error> {
    let start = format!("select {COLUMNS} from pgflow.start_flow($1, $2)");
    let row: Row =
        sqlx::query_as(sqlx::AssertSqlSafe(start)).bind(flow).bind(input).fetch_one(pool).await?;
    Ok(row.into())
}

/// Waits until no run of these versions is open.
///
/// # Panics
/// When the database cannot be asked.
pub async fn all_ended(pool: PgPool, slugs: Vec<&'static str>) {
    let open = "select count(*) from pgflow.runs where flow_slug = any($1) and status = 'started'";
    let count = async || -> i64 {
        let query = sqlx::query_scalar(open).bind(&slugs);
        query.fetch_one(&pool).await.expect("a count")
    };
    while count().await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Run {
    /// The same run, as it is now.
    pub async fn now(&self, pool: &PgPool) -> Result<Self, sqlx::Error> {
        let find = format!("select {COLUMNS} from pgflow.runs where run_id = $1");
        let row: Row =
            sqlx::query_as(sqlx::AssertSqlSafe(find)).bind(self.id).fetch_one(pool).await?;
        Ok(row.into())
    }
}

type Row = (Uuid, String, String, Option<Value>);

impl From<Row> for Run {
    fn from((id, flow_slug, status, output): Row) -> Self {
        Self { id, flow_slug, status, output }
    }
}
