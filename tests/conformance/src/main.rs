//! `pgflow-conformance --url …`: the checks, on a database of yours.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use pgflow_conformance::subjects::{InMemory, OnMySql, OnPostgres, SqliteFile};
use pgflow_conformance::{Options, Report, Subject, Verdict, run};
use serde_json::{Value, json};

/// Checks that a database behind pgflow does what every one must. It adds flows and runs of its own and leaves
/// them there, so give it a database that may be thrown away.
#[derive(Parser)]
struct Arguments {
    /// `postgres://…`, `mysql://…`, `sqlite:file.db` or `memory:`.
    #[arg(long, env = "PGFLOW_DATABASE_URL", hide_env_values = true)]
    url: String,

    /// Only checks whose ids begin with one of these: `--only C16,K1`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// As many rounds as the specification asks for.
    #[arg(long)]
    long: bool,

    /// A JSON object per check.
    #[arg(long)]
    json: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let subject = match subject(&arguments.url) {
        Ok(subject) => subject,
        Err(why) => {
            eprintln!("pgflow-conformance: {why}");
            return ExitCode::from(2);
        }
    };
    // What went wrong is told in the report; the place in our own code says little.
    std::panic::set_hook(Box::new(|_| {}));
    let options = Options { long: arguments.long, only: arguments.only };
    let reports = run(std::slice::from_ref(&subject), &options).await;
    for report in &reports {
        if arguments.json {
            println!("{}", as_json(subject.name(), report));
        } else {
            println!("{report}");
        }
    }
    let failed = reports.iter().any(|report| matches!(report.verdict, Verdict::Failed(_)));
    ExitCode::from(u8::from(failed || reports.is_empty()))
}

/// By the scheme; the URL itself is never printed, it may hold a password.
fn subject(url: &str) -> Result<Arc<dyn Subject>, String> {
    let (scheme, rest) = url.split_once(':').ok_or("the URL has no scheme, such as `sqlite:`")?;
    match scheme {
        "memory" => Ok(Arc::new(InMemory)),
        "postgres" | "postgresql" => Ok(Arc::new(OnPostgres::at(url))),
        "mysql" | "mariadb" => Ok(Arc::new(OnMySql::at(url))),
        "sqlite" | "file" if rest.contains(":memory:") => {
            Err("several connections are needed, and to a database in memory there is one".into())
        }
        "sqlite" | "file" => Ok(Arc::new(SqliteFile::at(rest.strip_prefix("//").unwrap_or(rest)))),
        other => Err(format!(
            "`{other}:` is no scheme of a database: use `postgres:`, `mysql:`, `sqlite:` or `memory:`"
        )),
    }
}

fn as_json(backend: &str, report: &Report) -> Value {
    let (verdict, why) = match &report.verdict {
        Verdict::Passed => ("passed", None),
        Verdict::Failed(why) => ("failed", Some(why)),
        Verdict::DoesNotApply => ("does not apply", None),
    };
    json!({
        "backend": backend,
        "id": report.check.id,
        "title": report.check.title,
        "verdict": verdict,
        "seconds": report.took.as_secs_f64(),
        "why": why,
    })
}
