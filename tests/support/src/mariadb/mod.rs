//! A real MariaDB, like the Postgres [`Server`](crate::Server).

mod database;
mod instance;

pub use database::MariaDbDatabase;

use std::process::Command;

use pgflow_test_programs::{MARIADB, Result, run};
use tokio::sync::OnceCell;

use crate::server::fail;
use instance::Instance;

/// Settings of a [`MariaDb`]; the default is fast and forgetful.
#[derive(Debug, Clone, Default)]
pub struct MariaDbOptions {
    /// Survive a crash: real commits, data on disk rather than in memory.
    pub fsync: bool,
    /// More settings, as on the command line but without the dashes.
    pub extra: Vec<(String, String)>,
    /// Variables of the server's process.
    pub env: Vec<(String, String)>,
}

/// A running server; it ends with this value, or with the process.
#[derive(Debug)]
pub struct MariaDb {
    instance: Instance,
}

static SHARED: OnceCell<MariaDb> = OnceCell::const_new();

impl MariaDb {
    /// The server of this process, started by whoever asks first.
    ///
    /// # Panics
    /// When no server can be had: a test must not pass without one.
    pub async fn shared() -> &'static Self {
        SHARED
            .get_or_init(|| async {
                let start = || Self::start(&MariaDbOptions::default());
                let started = tokio::task::spawn_blocking(start).await;
                started.expect("starting the server panicked").unwrap_or_else(|error| fail(&error))
            })
            .await
    }

    /// Starts a server of one's own.
    pub fn start(options: &MariaDbOptions) -> Result<Self> {
        let start = || Instance::create(options);
        // Somebody else may have taken the port meanwhile.
        let instance = start().or_else(|_| start())?;
        Ok(Self { instance })
    }

    /// How to reach one of its databases, with all rights.
    pub fn url(&self, db: &str) -> String {
        format!("mysql://root@127.0.0.1:{}/{db}", self.instance.port)
    }

    /// Where it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.instance.port
    }

    /// The id of its process, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.instance.pid()
    }

    /// Runs statements with the server's own client program; rows come back as lines, columns behind tabs.
    pub fn sql(&self, statements: &str) -> Result<String> {
        let client = MARIADB.directories()?[1].join("mariadb");
        run(Command::new(client)
            .args(["--no-defaults", "--batch", "--skip-column-names", "--user=root", "--socket"])
            .arg(self.instance.socket())
            .args(["--execute", statements]))
    }

    /// Ends the server at once, as a power cut would.
    pub fn kill9(&self) {
        self.instance.kill9();
    }

    /// Starts it again after [`kill9`](Self::kill9), or stops it in an orderly way before.
    pub fn restart(&mut self) -> Result<()> {
        self.instance.restart()
    }
}
