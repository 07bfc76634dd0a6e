//! Which runs are meant.

use std::time::Duration;

use clap::Args;
use pgflow_runtime::backend::RunQuery;
use pgflow_runtime::client::RunIdPrefix;
use pgflow_runtime::job::JobId;
use pgflow_runtime::{Db, RunId, RunStatus, Timestamp};

use super::flat;
use crate::error::Error;
use crate::{job, out};

/// How many runs an error names.
const NAMED: u32 = 5;

/// The run that an id, or the beginning of one, means.
pub(crate) async fn run_of(db: &Db, text: &str) -> Result<RunId, Error> {
    let prefix: RunIdPrefix = text.parse().map_err(|error| Error::Usage(format!("{error}")))?;
    let found = db.find_runs(prefix, NAMED).await?;
    match found.as_slice() {
        [] => Err(Error::Refused(format!("there is no run {text}"))),
        [run] => Ok(run.id),
        several => {
            let ids: Vec<_> = several.iter().map(|run| run.id.to_string()).collect();
            Err(Error::Usage(format!("several runs begin with {text}: {}", ids.join(", "))))
        }
    }
}

/// Whether a word is about a run or a job: no flow is called like that.
pub(crate) fn is_id(text: &str) -> bool {
    text.contains('-') || text.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether a word that no flow is called may be the beginning of an id: those of runs with a key begin with any digit.
pub(crate) fn may_be_id(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// A run or a job.
pub(crate) enum Meant {
    Run(RunId),
    Job(JobId),
}

/// The run or job that an id, or the beginning of one, means.
pub(crate) async fn meant(db: &Db, text: &str) -> Result<Meant, Error> {
    let mut found = Vec::new();
    let prefix = text.parse::<RunIdPrefix>();
    if let Ok(prefix) = prefix {
        let runs = db.find_runs(prefix, NAMED).await?;
        found.extend(runs.into_iter().map(|run| Meant::Run(run.id)));
    }
    if text.parse::<JobId>().is_ok() {
        found.extend(job::meant(db, text).await?.into_iter().map(|job| Meant::Job(job.id)));
    }
    match (found.pop(), found.len(), prefix) {
        (Some(one), 0, _) => {
            if let Meant::Job(id) = &one {
                job::note_longer(text, id);
            }
            Ok(one)
        }
        (Some(last), ..) => Err(job::several(text, found.iter().chain([&last]).map(named))),
        (None, _, Ok(_)) => Err(Error::Refused(format!("there is no run {text}, and no such job"))),
        (None, _, Err(_)) => {
            Err(Error::Refused(format!("there is no job {text}, and no run can be called that")))
        }
    }
}

fn named(meant: &Meant) -> String {
    match meant {
        Meant::Run(run) => format!("run {run}"),
        Meant::Job(job) => format!("job {job}"),
    }
}

/// Says which of these flows are not in the database: a name with a mistake in it has no runs either.
pub(crate) async fn warn_of_unknown(db: &Db, flows: &[String]) -> Result<(), Error> {
    if flows.is_empty() {
        return Ok(());
    }
    let known = db.flows().await?;
    for flow in flows.iter().filter(|flow| known.iter().all(|known| known.flow != **flow)) {
        out::note(format_args!("warning: there is no flow `{}` in {db}", flat(flow)));
    }
    Ok(())
}

/// `30s`, `2h`, `7d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let seconds = pgflow_model::parse_seconds(text).map_err(|error| error.to_string())?;
    Ok(Duration::from_secs(seconds))
}

fn parse_status(text: &str) -> Result<RunStatus, String> {
    RunStatus::from_word(text).ok_or_else(|| {
        let words: Vec<_> = RunStatus::ALL.iter().map(|status| status.word()).collect();
        format!("a run is one of {}", words.join(", "))
    })
}

/// Which runs of all.
#[derive(Args, Clone)]
pub(crate) struct Filter {
    /// Only of this flow, all its versions; may be repeated.
    #[arg(long, value_name = "FLOW")]
    pub(crate) flow: Vec<String>,

    /// Only with this status: started, completed, failed or cancelled; may be repeated.
    #[arg(long, value_name = "STATUS", value_parser = parse_status)]
    pub(crate) status: Vec<RunStatus>,

    /// Only those that began in this time: `30m`, `2h`, `7d`.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) since: Option<Duration>,
}

impl Filter {
    /// Whether it leaves out any.
    pub(crate) fn is_set(&self) -> bool {
        !self.flow.is_empty() || !self.status.is_empty() || self.since.is_some()
    }

    /// As the database is asked.
    pub(crate) fn query(&self, now: Timestamp, max: u32) -> RunQuery {
        let ago = |time: Duration| {
            let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
            Timestamp::from_micros(now.micros().saturating_sub(micros))
        };
        RunQuery {
            flows: self.flow.clone(),
            statuses: self.status.clone(),
            since: self.since.map(ago),
            after: None,
            max,
        }
    }
}
