//! Postgres, where time goes by when claims and delays are made older.

use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::Backend;
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use pgflow_test_support::TestDb;
use sqlx::AssertSqlSafe;

use crate::subject::{Database, Guard, Later, Subject};

/// A new database for every check, on the server of this process.
#[derive(Clone, Copy, Debug)]
pub struct OnPostgres;

impl Subject for OnPostgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async {
            let db = TestDb::new().await;
            let postgres = open(&db.url()).await;
            Box::new(Fresh { db, postgres }) as Box<dyn Database>
        })
    }
}

struct Fresh {
    db: TestDb,
    postgres: Arc<Postgres>,
}

/// Many tasks of a check may be in a transaction at once.
async fn open(url: &str) -> Arc<Postgres> {
    let options = PostgresOptions { engine_connections: 4, ..PostgresOptions::new(url) };
    Arc::new(Postgres::open(options).await.expect("the server is there"))
}

impl Database for Fresh {
    fn backend(&self) -> Arc<dyn Backend> {
        self.postgres.clone()
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { open(&self.db.url()).await as Arc<dyn Backend> })
    }

    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>> {
        Box::pin(async {
            let setting = "options=-c%20default_transaction_read_only%3Don";
            let backend = open(&format!("{}&{setting}", self.db.url())).await;
            Some((backend as Arc<dyn Backend>, Box::new(()) as Guard))
        })
    }

    fn advance<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            let by = format!("interval '{} microseconds'", by.as_micros());
            // As if all claims and delays had begun earlier.
            let sql = format!(
                "update pgflow.step_tasks set queued_at = queued_at - {by}, started_at = started_at - {by},
                        lease_until = lease_until - {by}
                  where flow_slug = '{flow}';
                 update pgmq.q_{flow} set vt = vt - {by}"
            );
            let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.db.pool).await;
            done.expect("time can be changed");
        })
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        Box::pin(async {
            let query = sqlx::query_scalar("select v::text from pgflow.check() v");
            query.fetch_all(&self.db.pool).await.expect("the checker runs")
        })
    }
}
