//! A database with a core in it, and the connections that work on it.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use uuid::Uuid;

use crate::abilities::Abilities;
use crate::error::{BenchError, Doing, Result};
use crate::jobs::Names;
use crate::meter::Probe;

/// What the core under test is called in tables.
pub(crate) const NATIVE: &str = "pgflow";

/// One core under measurement.
pub(crate) struct Target {
    pub(crate) name: String,
    /// Made for this run, so everything in it may be thrown away.
    pub(crate) owned: bool,
    pub(crate) abilities: Abilities,
    /// For connections of somebody else; may hold a password.
    pub(crate) url: String,
    pub(crate) probe: Probe,
    /// Stay open for the whole run, so that no process ends inside a measured window.
    pub(crate) lanes: Vec<PgConnection>,
    pub(crate) worker: Uuid,
    pub(crate) names: Names,
    flows: u32,
}

impl Target {
    pub(crate) async fn open(
        name: &str,
        options: &PgConnectOptions,
        lanes: u32,
        owned: bool,
    ) -> Result<Self> {
        let mut conn = connect(name, options).await?;
        let abilities = Abilities::detect(&mut conn, name).await?;
        prepare(&mut conn).await?;
        let worker = Uuid::now_v7();
        if abilities.flows {
            register_worker(&mut conn, worker).await?;
        }
        let probe = Probe::new(conn).await?;
        let mut open = Vec::new();
        for _ in 0..lanes {
            open.push(connect(name, options).await?);
        }
        let (name, url) = (name.to_owned(), options.to_url_lossy().to_string());
        Ok(Self {
            name,
            owned,
            abilities,
            url,
            probe,
            lanes: open,
            worker,
            names: Names::new(worker),
            flows: 0,
        })
    }

    /// A flow slug that nobody has used yet: a core that can't delete flows keeps those of earlier runs.
    pub(crate) fn next_slug(&mut self, case: &str) -> String {
        self.flows += 1;
        let tag = self.worker.as_u128() & 0xff_ffff;
        format!("pgflow_bench_{tag:06x}_{case}_{}", self.flows)
    }

    /// Leaves a database that is not ours as it was found.
    pub(crate) async fn close(mut self) -> Result<()> {
        if !self.owned {
            crate::cleanup::flows(&mut self).await?;
            crate::cleanup::jobs(&mut self).await?;
            let drop = "drop schema pgflow_bench cascade";
            sqlx::query(drop)
                .execute(&mut self.probe.conn)
                .await
                .doing("removing the benchmark's own schema")?;
        }
        for lane in self.lanes {
            lane.close().await.doing("closing a connection")?;
        }
        self.probe.conn.close().await.doing("closing a connection")
    }
}

/// A connection whose errors name the target, never its password.
pub(crate) async fn connect(name: &str, options: &PgConnectOptions) -> Result<PgConnection> {
    let failed = |source| BenchError::Connect { target: name.to_owned(), source };
    options.clone().application_name("pgflow-bench").connect().await.map_err(failed)
}

async fn prepare(conn: &mut PgConnection) -> Result<()> {
    sqlx::raw_sql("create schema if not exists pgflow_bench")
        .execute(conn)
        .await
        .doing("preparing the database")?;
    Ok(())
}

async fn register_worker(conn: &mut PgConnection, worker: Uuid) -> Result<()> {
    sqlx::query("insert into pgflow.workers (queue_name, worker_id, function_name) values ('pgflow_bench', $1, 'pgflow_bench')")
        .bind(worker)
        .execute(conn)
        .await
        .doing("registering the worker")?;
    Ok(())
}
