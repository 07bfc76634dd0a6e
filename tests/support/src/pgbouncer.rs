//! A real PgBouncer in front of a test's database.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::apt;
use crate::binaries::path;
use crate::database::TestDb;
use crate::directory::{give_away, new_directory};
use crate::error::{Doing, Error, Result};
use crate::process::{run, unprivileged};
use crate::server::fail;
use crate::watchdog::Watchdog;

/// The names of its socket and of the server's differ, so that both could be in one directory.
const PORT: u16 = 6432;
const PID_FILE: &str = "pgbouncer.pid";

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
        let program = find()?;
        let dir = new_directory(false)?;
        let watchdog = Watchdog::watch(&dir, PID_FILE)?;
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
        let patience = Instant::now() + Duration::from_secs(20);
        while UnixStream::connect(&socket).is_err() {
            if Instant::now() > patience {
                let output = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
                return Err(Error::Program { program: "pgbouncer".into(), output });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
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
        format!("pidfile = {here}/{PID_FILE}"),
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

/// Looks where packages put it, and installs Debian's if there is none.
fn find() -> Result<PathBuf> {
    installed().or_else(|| install().then(installed).flatten()).ok_or_else(|| Error::NotFound {
        what: "PgBouncer",
        help: format!("install it, for example with `{}`", command()),
    })
}

fn installed() -> Option<PathBuf> {
    let places = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"].map(PathBuf::from);
    path().into_iter().chain(places).map(|dir| dir.join("pgbouncer")).find(|file| file.is_file())
}

/// Some systems start what they install; nobody asked for that one.
fn install() -> bool {
    let is_new = apt::install("pgbouncer");
    if is_new {
        let _ = run(std::process::Command::new("service").args(["pgbouncer", "stop"]));
    }
    is_new
}

/// What a person would type on this platform.
fn command() -> &'static str {
    if cfg!(target_os = "macos") {
        "brew install pgbouncer"
    } else if apt::is_debian() {
        "sudo apt-get install -y pgbouncer"
    } else if Path::new("/etc/alpine-release").exists() {
        "apk add pgbouncer"
    } else if Path::new("/etc/arch-release").exists() {
        "pacman -S pgbouncer"
    } else {
        "dnf install pgbouncer"
    }
}
