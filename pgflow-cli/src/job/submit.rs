//! `pgflow job submit`.

use std::time::Duration;

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::JobStanding;
use pgflow_runtime::client::JobHandle;
use pgflow_runtime::job::{JobOutcome, Wait};
use serde_json::json;

use super::job_named;
use crate::database::{Reach, flat, folded, parse_duration, plain};
use crate::error::Error;
use crate::out;
use crate::start::read;

/// What to submit.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow job submit invoice.ingest '{\"file\": 7}' --id inv-42 --key customer-123
  pgflow job submit report.send @report.json --after inv-42 --delay 1h
  pgflow job submit page.scan 7 --wait

A name is used once: if there is a job of this name, or was one, that one is meant. With `--wait` it ends
with 1 if the job does not end as done.")]
pub(crate) struct Submit {
    /// What it needs first.
    need: String,

    /// What it is about: JSON, `@file`, or `-` for standard input [default: null]
    payload: Option<String>,

    #[command(flatten)]
    reach: Reach,

    /// Its name; without one, a time-ordered id is made.
    #[arg(long)]
    id: Option<String>,

    /// One leased job per key at a time.
    #[arg(long)]
    key: Option<String>,

    /// Greater ones go first.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,

    /// Not before the job of this name is over; may be repeated.
    #[arg(long, value_name = "JOB")]
    after: Vec<String>,

    /// Not before so much time has passed.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    delay: Option<Duration>,

    /// Not leased any more after so much time.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires_in: Option<Duration>,

    /// Fail after so many attempts [default: as the need's worker says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_attempts: Option<u32>,

    /// Wait until it has ended, and print what it put out.
    #[arg(long)]
    wait: bool,

    /// Do not wait longer than this.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "wait")]
    timeout: Option<Duration>,
}

pub(super) async fn run(command: &Submit) -> Result<bool, Error> {
    let payload = read(command.payload.as_deref())?;
    let db = command.reach.open().await?;
    let mut submit = db.submit_raw(&command.need, payload).by("pgflow job submit");
    submit = submit.priority(command.priority).after(waits(&db, command).await?);
    if let Some(id) = &command.id {
        submit = submit.id(id);
    }
    if let Some(key) = &command.key {
        submit = submit.key(key);
    }
    if let Some(delay) = command.delay {
        submit = submit.delay(delay);
    }
    if let Some(time) = command.expires_in {
        submit = submit.expires_in(time);
    }
    if let Some(attempts) = command.max_attempts {
        submit = submit.max_attempts(attempts);
    }
    let job = submit.await?;
    if command.wait {
        return wait(command, &db, &job).await;
    }
    if command.reach.json {
        out::json(json!({ "job": job.id(), "need": command.need, "is_new": job.is_new() }))?;
    } else {
        out::line(flat(job.id().as_str()))?;
    }
    Ok(true)
}

async fn waits(db: &Db, command: &Submit) -> Result<Vec<Wait>, Error> {
    let mut waits = Vec::new();
    for job in &command.after {
        waits.push(Wait::job(job_named(db, job).await?.id));
    }
    Ok(waits)
}

async fn wait(command: &Submit, db: &Db, job: &JobHandle) -> Result<bool, Error> {
    let outcome = match command.timeout {
        Some(timeout) => job.wait_for(timeout).await?,
        None => Some(job.wait().await?),
    };
    let Some(outcome) = outcome else {
        return Err(Error::Refused(format!("job {} goes on after that time", job.id())));
    };
    let record = job.record().await?;
    if command.reach.json {
        let status = JobStanding::Ended(outcome).to_string();
        out::json(json!({ "job": job.id(), "status": status, "output": record.output }))?;
    } else if let Some(output) = &record.output {
        out::line(plain(&format!("{output:#}")))?;
    } else {
        let why = db.why_job(job.id()).await?;
        out::line(folded(&why.text(command.reach.moments(why.now))))?;
    }
    Ok(outcome == JobOutcome::Done)
}
