//! The process and the files of a server that we started.

use std::fs::File;
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_test_programs::{Doing, Error, MARIADB, Result, Watchdog, run};

use super::MariaDbOptions;
use crate::directory::new_directory;
use crate::port::free_port;
use crate::process::{signal, unprivileged};
use crate::waiting::happens;

/// A server that this process started.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) port: u16,
    dir: PathBuf,
    options: MariaDbOptions,
    server: Mutex<Option<Child>>,
    watchdog: Option<Watchdog>,
}

impl Instance {
    pub(super) fn create(options: &MariaDbOptions) -> Result<Self> {
        let dir = new_directory(options.fsync)?;
        let watchdog = Some(Watchdog::watch(&dir)?);
        let (options, server) = (options.clone(), Mutex::default());
        let instance = Self { port: free_port()?, dir, options, server, watchdog };
        run(unprivileged(&MARIADB.directories()?[1].join("mariadb-install-db"))
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(setting("datadir", instance.data().display()))
            .arg(setting("tmpdir", instance.dir.display()))
            .arg("--innodb-log-file-size=4M"))?;
        instance.start()?;
        Ok(instance)
    }

    /// The server's process, if it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.server().as_ref().map(Child::id)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    pub(super) fn kill9(&self) {
        if let Some(mut server) = self.server().take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    pub(super) fn restart(&self) -> Result<()> {
        if let Some(mut server) = self.server().take() {
            signal("TERM", &[server.id()]);
            server.wait().doing("wait for the end of MariaDB")?;
        }
        self.start()
    }

    fn start(&self) -> Result<()> {
        let log = File::options().append(true).create(true).open(self.log());
        let log = log.doing(format!("write {}", self.log().display()))?;
        let server = unprivileged(&MARIADB.directories()?[0].join("mariadbd"))
            .arg("--no-defaults")
            .args(self.settings())
            .stdin(Stdio::null())
            .stdout(log.try_clone().doing("share a log file")?)
            .stderr(log)
            // Out of reach of the terminal's Ctrl-C.
            .process_group(0)
            .spawn()
            .doing("start MariaDB")?;
        *self.server() = Some(server);
        self.wait()
    }

    /// Until it greets, or has ended.
    fn wait(&self) -> Result<()> {
        let is_there = || self.greets() || self.has_ended();
        if happens(is_there) && !self.has_ended() {
            return Ok(());
        }
        let output = std::fs::read_to_string(self.log()).unwrap_or_default();
        Err(Error::Program { program: "mariadbd".into(), output })
    }

    fn greets(&self) -> bool {
        let greeting = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.read_exact(&mut [0])
        });
        greeting.is_ok()
    }

    fn has_ended(&self) -> bool {
        self.server().as_mut().is_none_or(|server| !matches!(server.try_wait(), Ok(None)))
    }

    fn settings(&self) -> Vec<String> {
        let commit = if self.options.fsync { "1" } else { "0" };
        let mut settings = vec![
            setting("datadir", self.data().display()),
            // A server that starts deletes what it takes for leftovers there, of others too.
            setting("tmpdir", self.dir.display()),
            setting("socket", self.socket().display()),
            setting("tmpdir", self.dir.display()),
            setting("port", self.port),
            setting("bind-address", "127.0.0.1"),
            "--skip-name-resolve".into(),
            // As Debian sets it.
            setting("character-set-server", "utf8mb4"),
            setting("max-connections", 200),
            setting("innodb-log-file-size", "64M"),
            setting("innodb-flush-log-at-trx-commit", commit),
            // Memory has no direct I/O.
            setting("innodb-flush-method", "fsync"),
        ];
        settings.extend(self.options.extra.iter().map(|(name, value)| setting(name, value)));
        settings
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn log(&self) -> PathBuf {
        self.dir.join("log")
    }

    fn server(&self) -> MutexGuard<'_, Option<Child>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Instance {
    /// The watchdog stops the server; the dead are buried here.
    fn drop(&mut self) {
        drop(self.watchdog.take());
        self.kill9();
    }
}

fn setting(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}
