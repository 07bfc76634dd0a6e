//! Where an experiment takes place.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pgflow_test_support::{MariaDb, Server};

use super::base::{Base, Kind};
use super::{Dir, Journal, Outcome, Random, Spawn};

/// How much an experiment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Enough to fail when something is broken; for CI.
    Short,
    /// Enough to believe that nothing is.
    Long,
}

/// Where an experiment takes place: its directory, its databases, its random numbers.
pub struct Lab {
    /// How much is to be done.
    pub size: Size,
    /// Depends on the seed only.
    pub random: Random,
    /// What handlers say.
    pub journal: Journal,
    program: PathBuf,
    dir: Dir,
    bases: Vec<Arc<Base>>,
    held: Vec<Box<dyn Any + Send + Sync>>,
}

impl Lab {
    pub(super) fn new(id: &str, seed: u64, size: Size, program: &Path) -> Outcome<Self> {
        let (dir, random) = (Dir::new(id)?, Random::new(seed, id));
        let (journal, program) = (Journal::in_dir(dir.path()), program.to_owned());
        Ok(Self { size, random, journal, program, dir, bases: Vec::new(), held: Vec::new() })
    }

    /// One number for short experiments, another for long ones.
    pub fn either<T>(&self, short: T, long: T) -> T {
        if self.size == Size::Short { short } else { long }
    }

    /// A directory that all processes of the experiment know.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A database that knows these flows. Its invariants are checked when the experiment is over.
    pub async fn base(&mut self, kind: Kind, flows: &[&str]) -> Outcome<Arc<Base>> {
        let base = match kind {
            Kind::Postgres => Base::postgres(Server::shared().await, flows).await?,
            Kind::Sqlite => Base::sqlite(&self.dir().join("app.db"), flows).await?,
            Kind::MySql => Base::mysql(MariaDb::shared().await, flows).await?,
        };
        Ok(self.keep(base))
    }

    /// The same, on a server of the experiment's own.
    pub async fn base_on(&mut self, server: &Server, flows: &[&str]) -> Outcome<Arc<Base>> {
        let base = Base::postgres(server, flows).await?;
        Ok(self.keep(base))
    }

    /// The same, on a MariaDB.
    pub async fn mysql_on(&mut self, server: &MariaDb, flows: &[&str]) -> Outcome<Arc<Base>> {
        let base = Base::mysql(server, flows).await?;
        Ok(self.keep(base))
    }

    /// Keeps something until invariants were checked.
    pub fn hold(&mut self, thing: impl Any + Send + Sync) {
        self.held.push(Box::new(thing));
    }

    fn keep(&mut self, base: Base) -> Arc<Base> {
        let base = Arc::new(base);
        self.bases.push(base.clone());
        base
    }

    /// A process of this experiment.
    pub fn spawn(&self, mode: &str, url: &str) -> Spawn {
        Spawn::new(&self.program, self.dir(), mode, url)
    }

    /// A worker process with these flows.
    pub fn worker(&self, url: &str, flows: &[&str]) -> Spawn {
        flows.iter().fold(self.spawn("worker", url), |spawn, flow| spawn.arg("--flow", flow))
    }

    /// Lets the handlers go on that wait for this.
    pub fn open(&self, gate: &str) -> Outcome {
        Ok(std::fs::write(self.dir().join(gate), "")?)
    }

    pub(super) async fn check(&self) -> Outcome {
        for base in &self.bases {
            base.check().await?;
        }
        Ok(())
    }

    /// An error with the last words of the processes.
    pub(super) fn explain(&self, why: &(dyn std::error::Error + Send + Sync)) -> String {
        let words = std::fs::read_to_string(self.dir().join("stderr")).unwrap_or_default();
        let last: Vec<&str> = words.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        if last.is_empty() { why.to_string() } else { format!("{why} [{}]", last.join(" | ")) }
    }
}
