//! `pgflow job`.

mod bulk;
mod cancel;
mod clear;
mod ls;
mod redrive;
pub(crate) mod shapes;
mod show;
mod submit;

use clap::Subcommand;
use pgflow_runtime::Db;
use pgflow_runtime::backend::JobSummary;
use pgflow_runtime::job::JobId;

pub(crate) use bulk::{BATCH, Bulk};
#[cfg(feature = "top")]
pub(crate) use cancel::cancel;
#[cfg(feature = "top")]
pub(crate) use clear::clear;
pub(crate) use ls::{Filter, list, parse_cursor, print_page};
#[cfg(feature = "top")]
pub(crate) use redrive::redrive;
pub(crate) use redrive::{DEAD, Redrive, run as redrive_all};
pub(crate) use show::show;

use crate::database::flat;
use crate::error::Error;
use crate::out;

/// How many jobs an error names.
const NAMED: u32 = 5;

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  pgflow job ls --status concern       jobs that somebody has to decide about
  pgflow job submit invoice.ingest '{\"file\": 7}' --id inv-42
  pgflow job redrive --need invoice.ingest --dry-run")]
pub(crate) enum Job {
    /// List jobs: live ones, the newest first, or those that ended.
    Ls(ls::Ls),
    /// Show a job: where it stands, what it waits for, what happened to it.
    Show(show::Show),
    /// Submit a job.
    Submit(submit::Submit),
    /// End jobs before they are done.
    Cancel(cancel::Cancel),
    /// Let jobs go on that have lost too many workers in a row.
    Clear(clear::Clear),
    /// Open failed and crashed jobs again.
    Redrive(redrive::Redrive),
}

pub(crate) async fn run(command: &Job) -> Result<bool, Error> {
    match command {
        Job::Ls(command) => ls::run(command).await,
        Job::Show(command) => show::run(command).await,
        Job::Submit(command) => submit::run(command).await,
        Job::Cancel(command) => cancel::run(command).await,
        Job::Clear(command) => clear::run(command).await,
        Job::Redrive(command) => redrive::run(command).await,
    }
}

/// Jobs that a name, or the beginning of one, may mean: one if it is a whole name.
pub(crate) async fn meant(db: &Db, text: &str) -> Result<Vec<JobSummary>, Error> {
    if !db.has_jobs() {
        return Ok(Vec::new());
    }
    let found = db.jobs_beginning(text, NAMED).await?;
    let whole = found.iter().position(|job| job.id.as_str() == text);
    Ok(match whole {
        // The shortest of those that begin like this comes first.
        Some(at) => found.into_iter().skip(at).take(1).collect(),
        None => found,
    })
}

/// The job that a name, or the beginning of one, means.
async fn job_of(db: &Db, text: &str) -> Result<JobSummary, Error> {
    let mut found = named(db, text).await?;
    match found.len() {
        0 => Err(Error::Refused(format!("there is no job {text}"))),
        1 => {
            note_longer(text, &found[0].id);
            Ok(found.remove(0))
        }
        _ => Err(several(text, found.iter().map(|job| format!("job {}", job.id)))),
    }
}

/// The job of exactly this name: what changes something must not mean another one, which begins like one that is gone.
async fn job_named(db: &Db, text: &str) -> Result<JobSummary, Error> {
    let found = named(db, text).await?;
    let longer: Vec<_> = found.iter().map(|job| job.id.to_string()).collect();
    let whole = found.into_iter().find(|job| job.id.as_str() == text);
    whole.ok_or_else(|| {
        let none = format!("there is no job {text}");
        if longer.is_empty() {
            return Error::Refused(none);
        }
        let longer = longer.join(", ");
        Error::Refused(format!(
            "{none}\nhelp: this takes whole names; some begin like that: {longer}"
        ))
    })
}

async fn named(db: &Db, text: &str) -> Result<Vec<JobSummary>, Error> {
    // A database without jobs says so.
    db.backend().jobs().map_err(pgflow_runtime::ClientError::from)?;
    let _: JobId = text.parse().map_err(|error| Error::Usage(format!("{error}")))?;
    meant(db, text).await
}

/// Says so where a job is shown that is called otherwise: one of exactly this name may be gone.
pub(crate) fn note_longer(text: &str, id: &JobId) {
    if id.as_str() != text {
        let (text, id) = (flat(text), flat(id.as_str()));
        out::note(format_args!("note: no job is called {text}; this is {id}"));
    }
}

/// More than one is meant.
pub(crate) fn several(text: &str, names: impl Iterator<Item = String>) -> Error {
    let names: Vec<_> = names.collect();
    Error::Usage(format!("several begin with {text}: {}", names.join(", ")))
}
