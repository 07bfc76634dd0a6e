//! Postgres, whose rows are set back in time.

use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::Backend;
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use pgflow_test_support::TestDb;
use sqlx::AssertSqlSafe;
use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::sync::OnceCell;

use crate::subject::{Database, Guard, Later, Subject};

/// One database for all checks: a new one would take longer than most of them.
#[derive(Debug, Default)]
pub struct OnPostgres {
    url: Option<String>,
    shared: OnceCell<Shared>,
}

#[derive(Clone, Debug)]
struct Shared {
    url: String,
    pool: PgPool,
    postgres: Arc<Postgres>,
}

impl OnPostgres {
    /// A new database on the server of this process.
    pub fn new() -> Self {
        Self::default()
    }

    /// This database; its schema is brought up to date.
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), shared: OnceCell::new() }
    }

    async fn connect(&self) -> Shared {
        let url = match &self.url {
            Some(url) => url.clone(),
            None => TestDb::new().await.url(),
        };
        let pool = PgPoolOptions::new().max_connections(2).connect_lazy(&url);
        let postgres = open(&url).await;
        postgres.migrate().await.expect("the schema can be made");
        Shared { pool: pool.expect("a URL that was used before"), url, postgres }
    }
}

/// Some checks ask for much at once.
async fn open(url: &str) -> Arc<Postgres> {
    let options = PostgresOptions { engine_connections: 4, ..PostgresOptions::new(url) };
    Arc::new(Postgres::open(options).await.expect("the server is there"))
}

impl Subject for OnPostgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async {
            let shared = self.shared.get_or_init(|| self.connect()).await;
            Box::new(shared.clone()) as Box<dyn Database>
        })
    }
}

impl Database for Shared {
    fn backend(&self) -> Arc<dyn Backend> {
        self.postgres.clone()
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { open(&self.url).await as Arc<dyn Backend> })
    }

    /// As a server that is about to fail over.
    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>> {
        Box::pin(async {
            let separator = if self.url.contains('?') { '&' } else { '?' };
            let setting = "options=-c%20default_transaction_read_only%3Don";
            let backend = open(&format!("{}{separator}{setting}", self.url)).await;
            Some((backend as Arc<dyn Backend>, Box::new(()) as Guard))
        })
    }

    fn advance_runs<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            let micros = by.as_micros();
            let by = format!("interval '{micros} microseconds'");
            let sql = format!(
                "update pgflow.step_tasks
                    set queued_at = queued_at - {by}, started_at = started_at - {by}, lease_until = lease_until - {by}
                  where flow_slug = '{flow}' and status in ('queued', 'started');
                 update pgmq.q_{flow} set vt = vt - {by};
                 update pgflow.schedules set after_at = after_at - {by}, next_at = next_at - {by} where flow_slug = '{flow}';
                 update pgflow.waits set since = since - {by}, until = until - {by} where flow_slug = '{flow}';
                 update pgflow.event_log l
                    set details = array(
                          select case when jsonb_typeof(d -> 'until') = 'number'
                                   then d || jsonb_build_object('until', (d -> 'until')::bigint - {micros}) else d end
                            from unnest(l.details) with ordinality e(d, n) order by e.n)
                   from pgflow.waits w
                  where w.flow_slug = '{flow}' and l.run_id = w.run_id and l.details is not null;"
            );
            let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool).await;
            done.expect("rows can be set back");
        })
    }

    fn advance_signals(&self, by: Duration) -> Later<'_, ()> {
        Box::pin(async move {
            let by = format!("interval '{} microseconds'", by.as_micros());
            let sql = format!(
                "update pgflow.signals set sent_at = sent_at - {by}, expires_at = expires_at - {by}"
            );
            let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool).await;
            done.expect("rows can be set back");
        })
    }

    fn age<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            self.advance(flow, by).await;
            let by = format!("interval '{} microseconds'", by.as_micros());
            let sql = format!(
                "update pgflow.step_states
                    set created_at = created_at - {by}, started_at = started_at - {by}, completed_at = completed_at - {by},
                        failed_at = failed_at - {by}, skipped_at = skipped_at - {by}
                  where flow_slug = '{flow}';
                 update pgflow.runs
                    set started_at = started_at - {by}, completed_at = completed_at - {by},
                        failed_at = failed_at - {by}, cancelled_at = cancelled_at - {by}
                  where flow_slug = '{flow}';
                 update pgmq.q_{flow} set enqueued_at = enqueued_at - {by};"
            );
            let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool).await;
            done.expect("rows can be set back");
        })
    }

    fn advance_jobs<'a>(&'a self, prefix: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            let micros = by.as_micros();
            let by = format!("interval '{micros} microseconds'");
            let sql = format!(
                "update pgflow.jobs
                    set created_at = created_at - {by}, wake_at = wake_at - {by}, expires_at = expires_at - {by},
                        lease_until = lease_until - {by}, look_at = look_at - {by}, cancel_at = cancel_at - {by}
                  where starts_with(id, '{prefix}');
                 update pgflow.job_archive
                    set created_at = created_at - {by}, archived_at = archived_at - {by}, wake_at = wake_at - {by},
                        expires_at = expires_at - {by}, cancel_at = cancel_at - {by}
                  where starts_with(id, '{prefix}');
                 update pgflow.job_messages set not_before = not_before - {by} where starts_with(job, '{prefix}');
                 update pgflow.permits
                    set state = state || jsonb_build_object('spent', (state ->> 'spent')::bigint - {micros})
                  where kind = 'rate' and starts_with(name, '{prefix}') and (state ->> 'spent')::bigint > 0;
                 update pgflow.job_trace set at = at - {by} where starts_with(job, '{prefix}');"
            );
            let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&self.pool).await;
            done.expect("rows can be set back");
        })
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        Box::pin(async {
            let query = sqlx::query_scalar("select v::text from pgflow.check() v");
            query.fetch_all(&self.pool).await.expect("the checker runs")
        })
    }
}
