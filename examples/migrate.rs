//! Installs the SQL core into a database, or writes it as plain files for another tool.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr as _;

use clap::{Args, Parser, ValueEnum};
use pgflow_runtime::postgres::{Core, EmitError, Format, MigrateError, install_pgmq};
use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};

/// Install the pgflow core into a Postgres database, or bring an older one up to date.
///
/// Safe to run at any time and by several at once: it takes a lock, does nothing when there is
/// nothing to do, and leaves the database as it was when anything fails.
#[derive(Parser)]
#[command(
    name = "migrate",
    after_help = "\
Examples:
  cargo run --example migrate -- --database postgres://localhost/app
  cargo run --example migrate -- --database postgres://localhost/app --check
  cargo run --example migrate -- --emit migrations --format sqlx

Exit codes: 0 done or up to date, 1 behind (--check only) or failed, 2 wrong arguments."
)]
struct Options {
    #[command(flatten)]
    target: Target,

    /// Which tool the files are for.
    #[arg(long, value_enum, requires = "emit", default_value = "psql")]
    format: FormatName,

    /// Only say what would be applied.
    #[arg(long, requires = "database", conflicts_with = "pgmq_only")]
    check: bool,

    /// Install pgmq and nothing else, for use with emitted files.
    #[arg(long, requires = "database")]
    pgmq_only: bool,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// The database, as `postgres://user:password@host/name`.
    #[arg(long, value_name = "URL")]
    database: Option<String>,

    /// Write the SQL to this directory instead of applying it.
    #[arg(long, value_name = "DIR")]
    emit: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// `0001_pgflow_schema.sql` …
    Sqlx,
    /// `V1__pgflow_schema.sql` …
    Refinery,
    /// `pgflow.sql`, one file that can be run again.
    Psql,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Sqlx => Self::Sqlx,
            FormatName::Refinery => Self::Refinery,
            FormatName::Psql => Self::Psql,
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Error {
    /// Without the URL and without the parser's words, both of which may hold a password.
    #[error("--database is not a URL of a Postgres database\nhelp: postgres://user@host/name")]
    Url,
    #[error("cannot connect to the database")]
    Connect(#[source] sqlx::Error),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(transparent)]
    Emit(#[from] EmitError),
}

/// What to print, and how to end.
struct Outcome {
    text: String,
    json: Value,
    code: ExitCode,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options).await {
        Ok(outcome) => {
            println!("{}", if options.json { outcome.json.to_string() } else { outcome.text });
            outcome.code
        }
        Err(error) => {
            let text = with_causes(&error);
            if options.json {
                println!("{}", json!({ "error": text }));
            } else {
                eprintln!(
                    "{} {text}",
                    if std::io::stderr().is_terminal() {
                        "\x1b[31merror:\x1b[0m"
                    } else {
                        "error:"
                    }
                );
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<Outcome, Error> {
    let core = Core::embedded();
    if let Some(dir) = &options.target.emit {
        return emit(&core, options.format.into(), dir);
    }
    let pool = connect(options.target.database.as_deref().unwrap_or_default()).await?;
    if options.check {
        check(&core, &pool).await
    } else if options.pgmq_only {
        let pgmq = install_pgmq(&pool).await?;
        Ok(done(format!("pgmq {pgmq} is installed"), json!({ "pgmq": pgmq })))
    } else {
        migrate(&core, &pool).await
    }
}

async fn migrate(core: &Core, pool: &PgPool) -> Result<Outcome, Error> {
    let report = core.migrate(pool).await?;
    let what = match report.applied.len() {
        0 => "up to date".into(),
        files => format!("applied {files} files"),
    };
    let text = format!("{what}: pgflow schema {}, pgmq {}", report.version, report.pgmq);
    Ok(done(text, json!(report)))
}

async fn check(core: &Core, pool: &PgPool) -> Result<Outcome, Error> {
    let pending = core.pending(pool).await?;
    if pending.is_empty() {
        return Ok(done(format!("up to date: pgflow schema {}", pending.version), json!(pending)));
    }
    let pgmq = pending.pgmq.is_none().then(|| "pgmq".to_owned());
    let list: Vec<String> = pgmq.into_iter().chain(pending.files.iter().cloned()).collect();
    let text = format!("behind, {} to apply:\n  {}", list.len(), list.join("\n  "));
    Ok(Outcome { text, json: json!(pending), code: ExitCode::FAILURE })
}

fn emit(core: &Core, format: Format, dir: &std::path::Path) -> Result<Outcome, Error> {
    let written = core.emit(format, dir)?;
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let text = match names.len() {
        0 => format!("{} has everything already", dir.display()),
        _ => format!("wrote\n  {}", names.join("\n  ")),
    };
    Ok(done(text, json!({ "written": names })))
}

fn done(text: String, json: Value) -> Outcome {
    Outcome { text, json, code: ExitCode::SUCCESS }
}

async fn connect(url: &str) -> Result<PgPool, Error> {
    let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
    let options = PgConnectOptions::from_str(url).ok().filter(|_| is_postgres).ok_or(Error::Url)?;
    // A pool would try again until its patience ends, and then say only that.
    PgConnection::connect_with(&options).await.map_err(Error::Connect)?;
    Ok(PgPoolOptions::new().max_connections(1).connect_lazy_with(options))
}

/// The error and what led to it, each said once.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
