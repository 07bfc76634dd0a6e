//! MariaDB, whose rows are set back in time.

use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::Backend;
use pgflow_runtime::mysql::{MySql, MySqlOptions};
use pgflow_test_support::MariaDbDatabase;
use sqlx::mysql::{MySqlConnection, MySqlPool, MySqlPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::sync::OnceCell;

use crate::subject::{Database, Guard, Later, Subject};

/// One database for all checks: a new one would take longer than most of them.
#[derive(Debug, Default)]
pub struct OnMySql {
    url: Option<String>,
    shared: OnceCell<Shared>,
}

#[derive(Clone, Debug)]
struct Shared {
    url: String,
    pool: MySqlPool,
    mysql: Arc<MySql>,
}

impl OnMySql {
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
            None => MariaDbDatabase::new().await.url(),
        };
        let pool = MySqlPoolOptions::new().max_connections(2).connect_lazy(&url);
        let mysql = open(&url.parse().expect("a URL")).await;
        mysql.migrate().await.expect("the schema can be made");
        Shared { pool: pool.expect("a URL that was used before"), url, mysql }
    }
}

async fn open(options: &MySqlOptions) -> Arc<MySql> {
    Arc::new(MySql::open(options).await.expect("the server is there"))
}

impl Subject for OnMySql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async {
            let shared = self.shared.get_or_init(|| self.connect()).await;
            Box::new(shared.clone()) as Box<dyn Database>
        })
    }
}

/// What a backup does: everybody may read, and nobody write.
const LOCK: &str =
    "lock tables pgflow_runs read, pgflow_run_data read, pgflow_steps read, pgflow_tasks read,
    pgflow_events read";

/// What sets signals back in time, whoever they are for.
const SET_SIGNALS_BACK: &[&str] =
    &["update pgflow_signals set expires_at = expires_at - {by} where ? is not null"];

/// What sets the tasks of a flow back in time, and with them its steps and runs.
const SET_BACK: &[&str] = &[
    "update pgflow_flows f
       straight_join pgflow_runs r on r.flow = f.id
       straight_join pgflow_tasks t on t.run = r.id
        set t.ready_at = t.ready_at - {by}, t.lost_at = t.lost_at - {by}, t.started_at = t.started_at - {by}
      where f.slug = ?",
    "update pgflow_flows f
       straight_join pgflow_runs r on r.flow = f.id
       straight_join pgflow_waits w on w.run = r.id
        set w.since = w.since - {by}, w.until_at = w.until_at - {by}
      where f.slug = ?",
    "update pgflow_schedules set after_at = after_at - {by}, next_at = next_at - {by} where flow = ?",
    "update pgflow_flows f
       straight_join pgflow_runs r on r.flow = f.id
       straight_join pgflow_steps s on s.run = r.id
        set s.started_at = s.started_at - {by}, s.ended_at = s.ended_at - {by}
      where f.slug = ?",
    "update pgflow_flows f
       straight_join pgflow_runs r on r.flow = f.id
        set r.started_at = r.started_at - {by}, r.ended_at = r.ended_at - {by}
      where f.slug = ?",
];

/// The same for jobs whose names begin like this.
const SET_JOBS_BACK: &[&str] = &[
    "update pgflow_job_leases l join pgflow_jobs j on j.seq = l.job
        set l.until = l.until - {by} where locate(?, j.id) = 1",
    "update pgflow_jobs
        set wake_at = wake_at - {by}, expires_at = expires_at - {by}, created_at = created_at - {by}
      where locate(?, id) = 1",
    "update pgflow_job_archive set ended_at = ended_at - {by}, expires_at = expires_at - {by} where locate(?, id) = 1",
    "update pgflow_messages set not_before = not_before - {by} where locate(?, job) = 1",
    // What was never taken from has no moment.
    "update pgflow_permits set state = json_set(state, '$.spent', cast(json_extract(state, '$.spent') as signed) - {by})
      where kind = 'rate' and locate(?, name) = 1 and cast(json_extract(state, '$.spent') as signed) > 0",
];

impl Shared {
    async fn set_back(&self, statements: &'static [&'static str], flow: &str, by: Duration) {
        for statement in statements {
            let sql = statement.replace("{by}", &by.as_micros().to_string());
            let query = sqlx::query(AssertSqlSafe(sql)).bind(flow);
            query.execute(&self.pool).await.expect("rows can be set back");
        }
    }
}

impl Database for Shared {
    fn backend(&self) -> Arc<dyn Backend> {
        self.mysql.clone()
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { open(&self.url.parse().expect("a URL")).await as Arc<dyn Backend> })
    }

    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>> {
        Box::pin(async {
            let options: MySqlOptions = self.url.parse().expect("a URL");
            let backend = open(&options.lock_wait(Duration::from_secs(1))).await;
            let mut lock = MySqlConnection::connect(&self.url).await.expect("the server is there");
            lock.execute(LOCK).await.expect("the tables can be locked");
            Some((backend as Arc<dyn Backend>, Box::new(lock) as Guard))
        })
    }

    fn advance_runs<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(self.set_back(&SET_BACK[..3], flow, by))
    }

    fn advance_signals(&self, by: Duration) -> Later<'_, ()> {
        Box::pin(self.set_back(SET_SIGNALS_BACK, "", by))
    }

    fn age<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            self.set_back(SET_BACK, flow, by).await;
            self.advance_signals(by).await;
        })
    }

    fn advance_jobs<'a>(&'a self, prefix: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(self.set_back(SET_JOBS_BACK, prefix, by))
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        Box::pin(async { self.mysql.check().await.expect("the checker runs") })
    }
}
