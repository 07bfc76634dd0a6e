//! A database to measure workers on, with its control and its meters.

use std::time::{Duration, Instant};

use pgflow::Db;
use serde::Serialize;

use super::file::File;
use super::mysql::MySqlServer;
use super::reading::Reading;
use crate::controls::insert;
use crate::error::Result;
use crate::jobs::Names;
use crate::meter::own_cpu;
use crate::target::Target;
use crate::{cleanup, health};

/// Where workers are measured.
pub(crate) enum MeasuredDb<'a> {
    Postgres(&'a mut Target),
    Sqlite(File),
    MySql(MySqlServer),
}

/// The meters at one moment.
pub(super) struct Mark {
    at: Instant,
    own_cpu: Option<Duration>,
    server_cpu: Option<Duration>,
}

/// The difference of two marks.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(clippy::struct_field_names, reason = "in JSON the unit must be in the name")]
pub(crate) struct Spent {
    pub(crate) wall_s: f64,
    /// CPU of this process, which client and worker are part of.
    pub(crate) own_cpu_s: Option<f64>,
    /// CPU of the server's processes, if there is one on this machine.
    pub(crate) server_cpu_s: Option<f64>,
}

impl MeasuredDb<'_> {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "postgres",
            Self::Sqlite(_) => "sqlite",
            Self::MySql(_) => "mysql",
        }
    }

    /// Connects as an application does, with nothing but a URL.
    pub(super) async fn connect(&self) -> Result<Db> {
        let url = match self {
            Self::Postgres(target) => target.url.clone(),
            Self::Sqlite(file) => file.url(),
            Self::MySql(server) => {
                server.make().await?;
                server.url()
            }
        };
        let db = Db::connect(&url).await?;
        db.migrate().await?;
        Ok(db)
    }

    /// Names of jobs that [`tidy_up`](Self::tidy_up) removes.
    pub(super) fn job_names(&self) -> Names {
        match self {
            Self::Postgres(target) => Names::beginning(target.names.prefix.clone()),
            Self::Sqlite(_) | Self::MySql(_) => Names::beginning("~".to_owned()),
        }
    }

    /// Rows per second, one per transaction: on all connections for a server, on the one that may write
    /// for a file.
    pub(super) async fn insert(&mut self, duration: Duration) -> Result<f64> {
        match self {
            Self::Postgres(target) => Ok(insert::run(target, duration).await?.per_second()),
            Self::Sqlite(file) => {
                let times = file.insert(duration).await?;
                Ok(Reading::of_times("one row, commit", "row", &times).per_second())
            }
            Self::MySql(server) => server.insert(duration).await,
        }
    }

    /// How long each INSERT of one row takes on one connection.
    pub(super) async fn insert_times(&mut self, duration: Duration) -> Result<Vec<Duration>> {
        match self {
            Self::Postgres(target) => insert::times(target, duration).await,
            Self::Sqlite(file) => file.insert(duration).await,
            Self::MySql(server) => server.insert_times(duration).await,
        }
    }

    /// Transactions of all connections to the server so far, statements for MySQL; nothing for a file.
    pub(super) async fn transactions(&mut self) -> Result<Option<i64>> {
        match self {
            Self::Postgres(target) => health::transactions(target).await.map(Some),
            Self::Sqlite(_) => Ok(None),
            Self::MySql(server) => server.statements().await.map(Some),
        }
    }

    /// The clock is read last.
    pub(super) fn mark(&self) -> Result<Mark> {
        let server_cpu = self.server_cpu()?;
        Ok(Mark { own_cpu: own_cpu(), server_cpu, at: Instant::now() })
    }

    pub(super) fn since(&self, mark: &Mark) -> Result<Spent> {
        let wall = mark.at.elapsed();
        let spent = |from: Option<Duration>, to: Option<Duration>| {
            from.zip(to).map(|(from, to)| to.saturating_sub(from).as_secs_f64())
        };
        Ok(Spent {
            wall_s: wall.as_secs_f64(),
            own_cpu_s: spent(mark.own_cpu, own_cpu()),
            server_cpu_s: spent(mark.server_cpu, self.server_cpu()?),
        })
    }

    fn server_cpu(&self) -> Result<Option<Duration>> {
        match self {
            Self::Postgres(target) => target.probe.read_cpu(),
            Self::Sqlite(_) => Ok(None),
            Self::MySql(server) => Ok(server.cpu()),
        }
    }

    /// Fails when the database is not in order; then removes what the case left.
    pub(super) async fn tidy_up(&mut self, case: &str) -> Result<()> {
        match self {
            Self::Postgres(target) => {
                health::invariants(target, case).await?;
                cleanup::jobs(target).await?;
                cleanup::flows(target).await
            }
            Self::Sqlite(file) => file.check(case).await,
            Self::MySql(server) => server.check(case).await,
        }
    }
}
