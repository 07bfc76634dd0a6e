//! `pgflow doctor`.

mod clock;
mod jobs;

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use pgflow_runtime::backend::{
    BackendError, Checkup, SchemaState, Severity, WorkerQuery, WorkerRecord,
};
use pgflow_runtime::{ClientError, Db};
use serde_json::{Map, Value, json};

use crate::database::{Reach, paint, plain, shapes, spoken};
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
        look_at_work(&db, &command.external, &mut checkup).await?;
        if !command.quick {
            look_at_runs(&db, &mut checkup).await?;
        }
    }
    checkup.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    print(command, &db, &checkup)?;
    Ok(checkup.findings.is_empty())
}

/// Whether workers serve what waits.
async fn look_at_work(db: &Db, external: &[String], checkup: &mut Checkup) -> Result<(), Error> {
    let now = db.now().await?;
    let query = WorkerQuery { max: 1_000, ..WorkerQuery::default() };
    let workers = db.workers(&query).await?;
    let alive: Vec<_> = workers.iter().filter(|worker| worker.is_alive(now)).collect();
    checkup.fact("workers", alive.len());
    checkup.fact("served", served(&alive));
    for worker in workers.iter().filter(|worker| worker.is_lost(now)) {
        let silence = spoken(worker.seen_at.saturating_until(now));
        let host = worker.host.as_deref().unwrap_or("an unknown host");
        checkup.find(
            "lost-worker",
            Severity::Warning,
            format!(
                "worker {} on {host} has been silent for {silence} and did not sign off",
                worker.id.0
            ),
            "see why it ended; its tasks are taken back by the others",
        );
    }
    let queues = db.queues().await?;
    if let Some(oldest) = queues.iter().filter_map(|queue| queue.oldest_ready).max() {
        checkup.fact("oldest_ready_task", spoken(oldest));
    }
    for queue in queues {
        let serving = alive.iter().filter(|worker| worker.queues.contains(&queue.slug)).count();
        let Some(age) = queue.oldest_ready else { continue };
        if serving == 0 && age > UNSERVED {
            checkup.find(
                "no-worker",
                Severity::Error,
                format!(
                    "{} tasks of `{}` have waited for {}, and no worker serves it",
                    queue.ready,
                    queue.slug,
                    spoken(age)
                ),
                format!("start a worker that has code for `{}`, or cancel its runs", queue.slug),
            );
        } else if serving > 0 && age > LATE {
            checkup.find(
                "late",
                Severity::Warning,
                format!("the oldest ready task of `{}` has waited for {}", queue.slug, spoken(age)),
                "start more workers, or give them more slots",
            );
        }
    }
    clock::look(db, now, checkup).await?;
    jobs::look(db, &alive, external, checkup).await
}

/// Versions of flows, and needs of jobs, that somebody is there for.
fn served(alive: &[&WorkerRecord]) -> String {
    let of = |worker: &&WorkerRecord| {
        let flows: Vec<_> = worker.flows().map(ToOwned::to_owned).collect();
        flows.into_iter().chain(worker.needs().map(Into::into)).collect::<Vec<String>>()
    };
    let all: BTreeSet<_> = alive.iter().flat_map(of).collect();
    if all.is_empty() { "nothing".to_owned() } else { Vec::from_iter(all).join(", ") }
}

/// Nothing if this login may not look, or the database keeps none of it.
fn seen<T: Default>(answer: Result<T, ClientError>) -> Result<T, Error> {
    match answer {
        Err(ClientError::Backend(BackendError::Refused(_) | BackendError::Unsupported { .. })) => {
            Ok(T::default())
        }
        answer => Ok(answer?),
    }
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
        return out::line(
            json!({ "backend": checkup.backend, "facts": facts, "findings": findings }),
        );
    }
    let paint = paint();
    out::line(paint.bold(&db.to_string()))?;
    for fact in &checkup.facts {
        out::line(format_args!("  {}: {}", fact.name, plain(&fact.value)))?;
    }
    for finding in &checkup.findings {
        let severity = paint.status(finding.severity.word());
        out::line(format_args!("{severity} {}: {}", finding.code, plain(&finding.what)))?;
        out::line(format_args!("  help: {}", plain(&finding.fix)))?;
    }
    if checkup.findings.is_empty() {
        out::line("all is well")?;
    }
    Ok(())
}
