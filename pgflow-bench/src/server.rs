//! The databases to measure on, made for this run unless told otherwise.

use std::path::Path;
use std::str::FromStr;

use pgflow_runtime::postgres::Core;
use pgflow_test_support::{Server, ServerOptions};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection};

use crate::args::{Args, Source};
use crate::error::{BenchError, Doing, Result};
use crate::target::{NATIVE, Target, connect};

/// What is measured, and what has to go when it is done.
pub(crate) struct Ground {
    pub(crate) targets: Vec<Target>,
    base: PgConnectOptions,
    databases: Vec<String>,
    /// Stops when it is dropped.
    _server: Option<Server>,
}

impl Ground {
    pub(crate) async fn open(args: &Args) -> Result<Self> {
        let (base, server) = base(args)?;
        let mut ground = Self { targets: Vec::new(), base, databases: Vec::new(), _server: server };
        match ground.add_targets(args).await {
            Ok(()) => Ok(ground),
            Err(error) => {
                ground.close().await?;
                Err(error)
            }
        }
    }

    async fn add_targets(&mut self, args: &Args) -> Result<()> {
        let core = args.core.as_deref().map_or_else(|| Ok(Core::embedded()), read_core)?;
        let native = if args.in_place {
            self.in_place(&core, args).await?
        } else {
            self.fresh(NATIVE, &core, args).await?
        };
        self.targets.push(native);
        for other in &args.other {
            let target = match &other.source {
                Source::Directory(path) => self.fresh(&other.name, &read_core(path)?, args).await?,
                Source::Url(url) => {
                    let options = parse(&other.name, url)?;
                    Target::open(&other.name, &options, args.connections, false).await?
                }
            };
            self.targets.push(target);
        }
        Ok(())
    }

    /// A new database on the base server with this core.
    async fn fresh(&mut self, name: &str, core: &Core, args: &Args) -> Result<Target> {
        let database = format!("pgflow_bench_{}_{}", std::process::id(), self.databases.len());
        execute(&self.base, &format!("create database {database} template template0")).await?;
        let options = self.base.clone().database(&database);
        self.databases.push(database);
        install(core, &options).await?;
        Target::open(name, &options, args.connections, true).await
    }

    /// The given database as it is; the core is installed only where there is none.
    async fn in_place(&self, core: &Core, args: &Args) -> Result<Target> {
        let mut conn = connect(NATIVE, &self.base).await?;
        let has_core: bool = sqlx::query_scalar("select to_regnamespace('pgflow') is not null")
            .fetch_one(&mut conn)
            .await
            .doing("looking for a core")?;
        conn.close().await.doing("closing a connection")?;
        if !has_core {
            install(core, &self.base).await?;
        }
        Target::open(NATIVE, &self.base, args.connections, false).await
    }

    /// Closes all connections and drops what was made.
    pub(crate) async fn close(self) -> Result<()> {
        for target in self.targets {
            target.close().await?;
        }
        for database in &self.databases {
            execute(&self.base, &format!("drop database if exists {database} with (force)"))
                .await?;
        }
        Ok(())
    }
}

/// The server given, or one of our own that keeps what it has committed.
fn base(args: &Args) -> Result<(PgConnectOptions, Option<Server>)> {
    if let Some(url) = &args.database {
        return Ok((parse(NATIVE, url)?, None));
    }
    let settings =
        [("shared_buffers", "512MB"), ("max_wal_size", "8GB"), ("checkpoint_timeout", "30min")];
    let extra = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let server = Server::start(ServerOptions {
        fsync: true,
        major: args.major,
        extra,
        ..ServerOptions::default()
    })?;
    Ok((parse(NATIVE, &server.url("postgres"))?, Some(server)))
}

fn parse(target: &str, url: &str) -> Result<PgConnectOptions> {
    PgConnectOptions::from_str(url)
        .map_err(|source| BenchError::Connect { target: target.to_owned(), source })
}

fn read_core(path: &Path) -> Result<Core> {
    Ok(Core::from_dir(path)?)
}

async fn install(core: &Core, options: &PgConnectOptions) -> Result<()> {
    let pool = PgPoolOptions::new()
        .max_connections(2)
        .connect_with(options.clone())
        .await
        .doing("connecting")?;
    core.migrate(&pool).await?;
    pool.close().await;
    Ok(())
}

async fn execute(server: &PgConnectOptions, sql: &str) -> Result<()> {
    let mut conn = connect(NATIVE, server).await?;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.doing(sql)?;
    conn.close().await.doing("closing a connection")
}
