//! The processes and files of a server that we started.

use std::path::PathBuf;

use pgflow_test_programs::{Doing, Error, Result, Watchdog, run};

use crate::binaries::Binaries;
use crate::directory::new_directory;
use crate::options::ServerOptions;
use crate::port::free_port;
use crate::process::{self, unprivileged};
use crate::tls;
use crate::waiting::happens;

/// Only part of a socket's name, where nobody listens on it.
const PORT: u16 = 5432;

/// A server that this process started.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) binaries: Binaries,
    pub(crate) dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) is_forgetful: bool,
    env: Vec<(String, String)>,
    _watchdog: Watchdog,
}

impl Cluster {
    pub(crate) fn create(binaries: Binaries, options: &ServerOptions) -> Result<Self> {
        let dir = new_directory(options.fsync)?;
        let port = if options.tls.is_some() { free_port()? } else { PORT };
        let watchdog = Watchdog::watch(&dir)?;
        let env = options.env.clone();
        let is_forgetful = !options.fsync;
        let cluster = Self { binaries, dir, port, is_forgetful, env, _watchdog: watchdog };
        let data = cluster.data();
        run(unprivileged(&cluster.binaries.program("initdb"))
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data))?;
        let conf = data.join("postgresql.auto.conf");
        let settings = options.conf(&cluster.dir.display().to_string(), port);
        std::fs::write(&conf, settings).doing(format!("write {}", conf.display()))?;
        if let Some(tls) = &options.tls {
            tls::set_up(&data, tls)?;
        }
        Ok(cluster)
    }

    pub(crate) fn start(&self) -> Result<()> {
        let log = self.dir.join("log");
        self.pg_ctl(&["-l", &log.display().to_string(), "-t", "60", "start"]).map_err(|error| {
            let log = std::fs::read_to_string(log).unwrap_or_default();
            Error::Program { program: "pg_ctl start".into(), output: format!("{error}\n{log}") }
        })
    }

    pub(crate) fn restart(&self) -> Result<()> {
        if self.pid().is_some_and(process::is_alive) {
            self.pg_ctl(&["-m", "fast", "stop"])?;
        }
        self.start()
    }

    /// Its output goes nowhere: the server would inherit the pipe and keep it open.
    fn pg_ctl(&self, args: &[&str]) -> Result<()> {
        let mut command = unprivileged(&self.binaries.program("pg_ctl"));
        let command = command.args(["-s", "-w", "-D"]).arg(self.data()).args(args);
        let command = command.envs(self.env.iter().cloned());
        let null = std::process::Stdio::null;
        let status = command.stdin(null()).stdout(null()).stderr(null()).status();
        let status = status.doing("run `pg_ctl`")?;
        let output = format!("{status}");
        if status.success() {
            Ok(())
        } else {
            Err(Error::Program { program: "pg_ctl".into(), output })
        }
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn pid(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    pub(crate) fn kill9(&self) {
        let Some(postmaster) = self.pid() else { return };
        let family = process::kill9_family(postmaster);
        let are_gone = happens(|| !family.iter().any(|pid| process::is_alive(*pid)));
        assert!(are_gone, "processes of the server outlived kill -9");
        // Where nobody buries the dead, the next server would take the old pid for a live one.
        let socket = format!(".s.PGSQL.{}", self.port);
        for lock in ["data/postmaster.pid", &format!("{socket}.lock"), &socket] {
            let _ = std::fs::remove_file(self.dir.join(lock));
        }
    }
}
