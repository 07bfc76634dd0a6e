//! `pgflow doctor`.

mod clock;
mod jobs;
mod rights;
mod work;

use std::time::Duration;

use clap::Args;
use pgflow_runtime::backend::{BackendError, Checkup, SchemaState, Severity};
use pgflow_runtime::{ClientError, Db};
use serde_json::{Map, Value, json};

use crate::database::{Reach, folded, paint, shapes};
use crate::error::Error;
use crate::out;

/// Work that has waited longer while workers serve it is late.
const LATE: Duration = Duration::from_mins(5);
/// Work that nobody serves may wait so long: a deployment takes a moment.
const UNSERVED: Duration = Duration::from_secs(30);
/// What databases say of jobs that wait for each other.
const RING: &str = "waits for itself";

/// How to look.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow doctor
  pgflow doctor --quick --json         without reading every run
  pgflow doctor --external human.review

Ends with 1 if there are findings.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    reach: Reach,

    /// Leave out what reads every run and job.
    #[arg(long)]
    quick: bool,

    /// People, or other programs, serve this need of jobs; may be repeated.
    #[arg(long, value_name = "NEED")]
    external: Vec<String>,
}

pub(crate) async fn run(command: &Doctor) -> Result<bool, Error> {
    let db = command.reach.connect().await?;
    let mut checkup = db.checkup().await?;
    let state = db.schema().await?;
    if matches!(state, SchemaState::Current | SchemaState::Hidden) {
        look_at_work(&db, command, &mut checkup).await?;
        if !command.quick {
            look_at_runs(&db, &mut checkup).await?;
        }
    }
    checkup.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    print(command, &db, &checkup)?;
    Ok(checkup.findings.is_empty())
}

/// Whether what waits is seen to. A part that this login may not look at does not keep it from the others.
async fn look_at_work(db: &Db, command: &Doctor, checkup: &mut Checkup) -> Result<(), Error> {
    let now = db.now().await?;
    let workers = work::workers(db, now, checkup).await;
    let workers = rights::allowed("workers", workers, checkup)?;
    let alive: Option<Vec<_>> = workers
        .as_ref()
        .map(|workers| workers.iter().filter(|worker| worker.is_alive(now)).collect());
    let queues = work::queues(db, alive.as_deref(), checkup).await;
    rights::allowed("queues of flows", queues, checkup)?;
    let schedules = clock::schedules(db, now, checkup).await;
    rights::allowed("schedules", schedules, checkup)?;
    let waits = clock::waits(db, checkup).await;
    rights::allowed("waits", waits, checkup)?;
    let jobs = jobs::look(db, alive.as_deref(), command, checkup).await;
    rights::allowed("jobs", jobs, checkup)?;
    Ok(())
}

/// Whether what is stored can be.
async fn look_at_runs(db: &Db, checkup: &mut Checkup) -> Result<(), Error> {
    let violations = match db.check().await {
        // Only the owner of the schema may read everything.
        Err(ClientError::Backend(BackendError::Refused(_))) => {
            checkup.fact("check", "this login may not look");
            return Ok(());
        }
        answer => answer?,
    };
    checkup.fact("check", if violations.is_empty() { "nothing is wrong" } else { "violations" });
    for violation in violations {
        let (code, fix) = if violation.contains(RING) {
            ("ring", "cancel one of the jobs that wait for each other, with `pgflow job cancel`")
        } else {
            (
                "violation",
                "was the database edited by hand? restore what was changed, or cancel and delete the run or job",
            )
        };
        checkup.find(code, Severity::Error, violation, fix);
    }
    Ok(())
}

fn print(command: &Doctor, db: &Db, checkup: &Checkup) -> Result<(), Error> {
    if command.reach.json {
        let facts: Map<_, _> = checkup
            .facts
            .iter()
            .map(|fact| (fact.name.to_owned(), Value::from(fact.value.clone())))
            .collect();
        let findings: Vec<_> = checkup.findings.iter().map(shapes::finding).collect();
        return out::json(
            json!({ "backend": checkup.backend, "facts": facts, "findings": findings }),
        );
    }
    let paint = paint();
    out::line(paint.bold(&db.to_string()))?;
    for fact in &checkup.facts {
        out::line(format_args!("  {}: {}", fact.name, folded(&fact.value)))?;
    }
    for finding in &checkup.findings {
        let severity = paint.status(finding.severity.word());
        out::line(format_args!("{severity} {}: {}", finding.code, folded(&finding.what)))?;
        out::line(format_args!("  help: {}", folded(&finding.fix)))?;
    }
    if checkup.findings.is_empty() {
        out::line("all is well")?;
    }
    Ok(())
}
