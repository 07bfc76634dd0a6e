//! A real PgBouncer in front of a test's database.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use pgflow_test_programs::{Doing, Error, PGBOUNCER, Result, Watchdog, run};

use crate::database::TestDb;
use crate::directory::{give_away, new_directory};
use crate::process::unprivileged;
use crate::server::fail;
use crate::waiting::happens;

/// The names of its socket and of the server's differ, so that both could be in one directory.
const PORT: u16 = 6432;

/// For how long a client has a session of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMode {
    /// As long as it is connected.
    Session,
    /// During a transaction.
    Transaction,
}

/// A running PgBouncer; it ends with this value, or with the process.
#[derive(Debug)]
pub struct PgBouncer {
    dir: PathBuf,
    database: String,
    _watchdog: Watchdog,
}

impl PgBouncer {
    /// In front of this database, with up to ten sessions.
    ///
    /// # Panics
    /// When none can be had: a test must not pass without it.
    pub fn start(db: &TestDb, mode: PoolMode) -> Self {
        Self::start_with(db, mode, &[]).unwrap_or_else(|error| fail(&error))
    }

    /// With more settings, as `pgbouncer.ini` spells them.
    pub fn start_with(db: &TestDb, mode: PoolMode, extra: &[(&str, &str)]) -> Result<Self> {
        let program = PGBOUNCER.directories()?[0].join("pgbouncer");
        let dir = new_directory(false)?;
        let watchdog = Watchdog::watch(&dir)?;
        let ini = dir.join("pgbouncer.ini");
        write(&ini, &settings(db, &dir, mode, extra))?;
        write(&dir.join("users.txt"), "\"postgres\" \"\"\n")?;
        run(unprivileged(&program).args(["-q", "-d"]).arg(&ini))?;
        let bouncer = Self { dir, database: db.name().to_owned(), _watchdog: watchdog };
        bouncer.wait()?;
        Ok(bouncer)
    }

    /// The database behind it.
    pub fn url(&self) -> String {
        let dir = self.dir.display();
        format!("postgresql:///{}?host={dir}&port={PORT}&user=postgres", self.database)
    }

    /// Where its files are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn wait(&self) -> Result<()> {
        let socket = self.dir.join(format!(".s.PGSQL.{PORT}"));
        if happens(|| UnixStream::connect(&socket).is_ok()) {
            return Ok(());
        }
        let output = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        Err(Error::Program { program: "pgbouncer".into(), output })
    }
}

fn settings(db: &TestDb, dir: &Path, mode: PoolMode, extra: &[(&str, &str)]) -> String {
    let mode = match mode {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
    };
    let server = db.socket_dir().display().to_string();
    let here = dir.display();
    let mut lines = vec![
        "[databases]".to_owned(),
        format!("* = host={server} port=5432"),
        "[pgbouncer]".to_owned(),
        // A socket in a directory of our own cannot clash with anybody; a port can.
        "listen_addr =".to_owned(),
        format!("listen_port = {PORT}"),
        format!("unix_socket_dir = {here}"),
        format!("pidfile = {here}/pid"),
        format!("logfile = {here}/log"),
        "auth_type = trust".to_owned(),
        format!("auth_file = {here}/users.txt"),
        "admin_users = postgres".to_owned(),
        "default_pool_size = 10".to_owned(),
        format!("pool_mode = {mode}"),
    ];
    lines.extend(extra.iter().map(|(key, value)| format!("{key} = {value}")));
    lines.join("\n") + "\n"
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).doing(format!("write {}", path.display()))?;
    give_away(path)
}
