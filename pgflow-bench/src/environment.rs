//! Where the figures come from: machine, server and settings.

use serde::Serialize;

use crate::error::{Doing, Result};
use crate::target::Target;

/// The machine that the benchmark (and by default the server) runs on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpus: usize,
    pub(crate) model: String,
    pub(crate) kernel: String,
    /// Load average before anything was measured.
    pub(crate) load: String,
}

/// A server and what it was set to.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ServerFacts {
    pub(crate) target: String,
    pub(crate) version: String,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) has_batches: bool,
    pub(crate) has_check: bool,
    pub(crate) sees_cpu: bool,
    pub(crate) page_images_by: &'static str,
}

const SETTINGS: [&str; 10] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "shared_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "autovacuum",
    "track_functions",
    "data_checksums",
];

impl Machine {
    pub(crate) fn read() -> Self {
        let file = |path| std::fs::read_to_string(path).unwrap_or_default();
        let model = file("/proc/cpuinfo").lines().find_map(|line| {
            Some(line.strip_prefix("model name")?.trim_start_matches([' ', '\t', ':']).to_owned())
        });
        Self {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            model: model.unwrap_or_else(|| "unknown".to_owned()),
            kernel: file("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: file("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" "),
        }
    }
}

impl ServerFacts {
    pub(crate) async fn read(target: &mut Target) -> Result<Self> {
        let (sees_cpu, page_images_by) = target.probe.abilities();
        let conn = &mut target.probe.conn;
        let version = sqlx::query_scalar("show server_version")
            .fetch_one(&mut *conn)
            .await
            .doing("reading the version")?;
        let settings = sqlx::query_as("select name, current_setting(name) from pg_settings where name = any($1) order by name")
            .bind(SETTINGS)
            .fetch_all(conn)
            .await
            .doing("reading the settings")?;
        Ok(Self {
            target: target.name.clone(),
            version,
            settings,
            has_batches: target.abilities.batches,
            has_check: target.abilities.check,
            sees_cpu,
            page_images_by,
        })
    }
}
