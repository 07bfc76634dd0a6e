//! The program, and databases to use it on.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::Value;
use sqlx::{Connection as _, MySqlConnection, PgConnection, SqliteConnection};

/// A flow with a map, a failure on demand, and a step that begins late.
#[flow(input = Vec<u32>, max_attempts = 1, base_delay = 600)]
pub(crate) mod sums {
    #[step]
    pub(crate) async fn first(run: Vec<u32>) -> pgflow::Result<Vec<u32>> {
        Ok(run)
    }

    #[step(map, depends_on = [first])]
    pub(crate) async fn double(item: u32) -> pgflow::Result<u32> {
        if item == 13 { Err("thirteen is refused\u{1b}[31m".into()) } else { Ok(item * 2) }
    }

    #[step(depends_on = [double])]
    pub(crate) async fn total(double: Vec<u32>) -> pgflow::Result<u32> {
        Ok(double.iter().sum())
    }
}

/// One step that is tried again after ten minutes, and one that begins an hour later.
#[flow(input = u32, max_attempts = 3, base_delay = 600, timeout = 1)]
pub(crate) mod slow {
    #[step]
    pub(crate) async fn work(run: u32) -> pgflow::Result<u32> {
        Ok(run)
    }

    #[step(start_delay = 3600)]
    pub(crate) async fn later(run: u32) -> pgflow::Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [work, later])]
    pub(crate) async fn both(work: u32, later: u32) -> pgflow::Result<u32> {
        Ok(work + later)
    }
}

/// A database of each kind, with flows that no worker serves.
pub(crate) async fn each() -> Outcome<Vec<Fresh>> {
    let places = vec![Fresh::sqlite().await?, Fresh::postgres().await?, Fresh::mysql().await?];
    for place in &places {
        place.db.register(sums::Flow).await?;
        place.db.register(slow::Flow).await?;
    }
    Ok(places)
}

/// What the program did.
pub(crate) struct Ran(Output);

impl Ran {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().expect("it was not killed")
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// All of it, for messages.
    pub(crate) fn text(&self) -> String {
        format!("{} {} {}", self.code(), self.stdout(), self.stderr())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout())
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

pub(crate) fn program(url: &str, args: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_pgflow"));
    program.args(args).env_remove("DATABASE_URL").env_remove("PGFLOW_DATABASE_URL");
    program.env("WORKFLOW_DATABASE_URL", url).stdin(Stdio::null());
    program
}

/// `pgflow …`, with the database in the environment.
pub(crate) async fn pgflow(url: &str, args: &[&str]) -> Ran {
    ended(program(url, args)).await
}

/// What a program did.
pub(crate) async fn ended(mut program: Command) -> Ran {
    let output = tokio::task::spawn_blocking(move || program.output()).await;
    Ran(output.expect("no panic").expect("the program runs"))
}

/// The same with `--json`, whatever it ends with.
pub(crate) async fn json(url: &str, args: &[&str]) -> Value {
    pgflow(url, &[args, &["--json"]].concat()).await.json()
}

/// Runs statements; tables have the same names in SQLite and MySQL, and others in Postgres.
pub(crate) async fn change(url: &str, elsewhere: &'static str, postgres: &'static str) -> Outcome {
    if let Some(file) = url.strip_prefix("sqlite:") {
        let mut connection = SqliteConnection::connect(file).await?;
        sqlx::raw_sql(elsewhere).execute(&mut connection).await?;
    } else if url.starts_with("mysql:") {
        let mut connection = MySqlConnection::connect(url).await?;
        sqlx::raw_sql(elsewhere).execute(&mut connection).await?;
    } else {
        let mut connection = PgConnection::connect(url).await?;
        sqlx::raw_sql(postgres).execute(&mut connection).await?;
    }
    Ok(())
}

/// The names of an object's fields, in order.
pub(crate) fn fields(value: &Value) -> Vec<&str> {
    let mut fields: Vec<_> = value
        .as_object()
        .map(|object| object.keys().map(String::as_str).collect())
        .unwrap_or_default();
    fields.sort_unstable();
    fields
}

/// A directory that everybody can read, and that is gone after the test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> std::io::Result<Self> {
        let dir = std::env::temp_dir().join(format!("pgflow-cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it, as a URL of SQLite.
    pub(crate) fn sqlite(&self, name: &str) -> String {
        format!("sqlite:{}", self.0.join(name).display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}
