//! A worker in a process of its own.

use std::process::ExitCode;
use std::time::Duration;

use pgflow::{Db, Worker};
use pgflow_runtime::postgres::Postgres;
use sqlx::postgres::PgPoolOptions;
use sqlx::{MySqlPool, SqlitePool};

use super::Place;
use crate::flows::{App, Pool, serve};
use crate::harness::{Journal, Outcome, WorkerEnd};

/// How it works.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    place: Place,
    /// Flows it serves
    #[arg(long)]
    flow: Vec<String>,
    #[arg(long, default_value_t = 4)]
    concurrency: usize,
    /// Seconds
    #[arg(long, default_value_t = 0.5)]
    grace: f64,
    /// Threads that handlers run on
    #[arg(long, default_value_t = 4)]
    pub(super) threads: usize,
    /// Connections of the application's pool
    #[arg(long, default_value_t = 4)]
    pool: u32,
    /// Steps with `tx` take their connections from that pool as well
    #[arg(long)]
    one_pool: bool,
}

pub(super) async fn run(options: Options) -> Outcome<ExitCode> {
    let (url, dir) = (&options.place.database, options.place.dir.clone());
    let pool = pool(url, options.pool).await?;
    let db = match &pool {
        Pool::Postgres(pool) if options.one_pool => {
            Db::new(Postgres::with_pool(pool.clone()).await?)
        }
        _ => Db::connect(url).await?,
    };
    let app = App { journal: Journal::in_dir(&dir), dir, pool };
    let worker = Worker::new(&db).state(app.clone()).concurrency(options.concurrency);
    let worker = worker.grace(Duration::from_secs_f64(options.grace));
    let worker = options.flow.iter().try_fold(worker, |worker, flow| serve(worker, flow, &app))?;
    let report = worker.run_until_signal().await?;
    let end = WorkerEnd {
        settled: report.settled,
        superseded: report.superseded,
        released: report.released,
        lost: report.lost,
    };
    println!("{}", serde_json::to_string(&end)?);
    Ok(report.exit_code())
}

async fn pool(url: &str, size: u32) -> Outcome<Pool> {
    if url.starts_with("sqlite:") {
        return Ok(Pool::Sqlite(SqlitePool::connect(url).await?));
    }
    if url.starts_with("mysql:") {
        return Ok(Pool::MySql(MySqlPool::connect(url).await?));
    }
    let options = PgPoolOptions::new().max_connections(size);
    Ok(Pool::Postgres(options.connect_lazy(url)?))
}
