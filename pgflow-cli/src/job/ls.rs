//! `pgflow job ls`, and `pgflow ls --jobs`.

use clap::Args;
use pgflow_runtime::backend::{JobPlace, JobSearch, JobSummary, JobsOf};
use pgflow_runtime::client::JobPage;
use pgflow_runtime::job::{JobOutcome, JobState};
use pgflow_runtime::{Db, Timestamp};
use serde_json::{Value, json};

use super::shapes;
use crate::database::{Reach, Table, Times, flat};
use crate::error::Error;
use crate::out;

/// What to list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow job ls --need invoice.ingest
  pgflow job ls --status failed        those that failed, the last to end first
  pgflow job ls --key customer-123     one of them has the key, the others wait for it")]
pub(crate) struct Ls {
    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    filter: Filter,

    /// How many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,

    /// Go on after a page: what the last one ended with.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

/// Which jobs of all.
#[derive(Args, Clone, Default)]
pub(crate) struct Filter {
    /// Only jobs that need this.
    #[arg(long)]
    pub(super) need: Option<String>,

    /// Only jobs of this key.
    #[arg(long)]
    pub(super) key: Option<String>,

    /// Only jobs that are live (all of them, or one of ready, sleeping, waiting, parked, leased, concern) or have ended
    /// (all of them, or as one of done, failed, cancelled, expired, crashed) [default: live]
    #[arg(long, value_parser = parse_status)]
    pub(super) status: Option<Which>,
}

/// Live jobs, or those that ended.
pub(crate) type Which = (JobsOf, Option<JobState>);

fn parse_status(word: &str) -> Result<Which, String> {
    // Jobs whose time is over are live for a moment only.
    let state = JobState::from_word(word).filter(|state| *state != JobState::Expired);
    match (word, state, JobOutcome::from_word(word)) {
        ("live", ..) => Ok((JobsOf::Live, None)),
        ("ended", ..) => Ok((JobsOf::Ended, None)),
        (_, Some(state), _) => Ok((JobsOf::Live, Some(state))),
        (_, None, Some(outcome)) => Ok((JobsOf::EndedAs(outcome), None)),
        (_, None, None) => {
            Err("a job is live, ready, sleeping, waiting, parked, leased or concern; \
             or ended, done, failed, cancelled, expired or crashed"
                .to_owned())
        }
    }
}

impl Filter {
    /// As the database is asked.
    pub(crate) fn search(&self, of: Which, max: u32) -> JobSearch {
        let (of, state) = self.status.unwrap_or(of);
        let (need, key) = (self.need.clone(), self.key.clone());
        JobSearch { of, state, need, key, after: None, max }
    }
}

/// `micros.place` of those that ended, `place` of live ones.
pub(crate) fn parse_cursor(text: &str) -> Result<JobPlace, Error> {
    let place = |ended_at: Option<&str>, seq: &str| {
        let ended_at = match ended_at {
            Some(micros) => Some(Timestamp::from_micros(micros.parse().ok()?)),
            None => None,
        };
        Some(JobPlace { ended_at, seq: seq.parse().ok()? })
    };
    let place = match text.split_once('.') {
        Some((micros, seq)) => place(Some(micros), seq),
        None => place(None, text),
    };
    place.ok_or_else(|| Error::Usage("that is not what a page of jobs ended with".to_owned()))
}

fn cursor(place: JobPlace) -> String {
    match place.ended_at {
        Some(at) => format!("{}.{}", at.micros(), place.seq),
        None => place.seq.to_string(),
    }
}

pub(super) async fn run(command: &Ls) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let after = command.after.as_deref();
    list(&db, &command.reach, &command.filter, command.limit, after).await?;
    Ok(true)
}

/// Prints a page.
pub(crate) async fn list(
    db: &Db,
    reach: &Reach,
    filter: &Filter,
    limit: u32,
    after: Option<&str>,
) -> Result<(), Error> {
    let after = after.map(parse_cursor).transpose()?;
    let search = JobSearch { after, ..filter.search((JobsOf::Live, None), limit) };
    print_page(db, reach, db.find_jobs(&search).await?).await
}

/// Prints what was found, and how to go on.
pub(crate) async fn print_page(db: &Db, reach: &Reach, page: JobPage) -> Result<(), Error> {
    let next = page.next.and_then(|next| next.after).map(cursor);
    if reach.json {
        let jobs: Vec<Value> = page.jobs.iter().map(shapes::summary).collect();
        return out::json(json!({ "jobs": jobs, "next": next }));
    }
    let times = reach.times(db).await?;
    let mut table = Table::new(&["job", "need", "status", "key", "attempts", "since", "error"]);
    for job in &page.jobs {
        table.row(row(job, &times));
    }
    out::text(table.text())?;
    next.map_or(Ok(()), |next| out::line(times.paint.dim(&format!("more: --after {next}"))))
}

fn row(job: &JobSummary, times: &Times) -> [String; 7] {
    let error = job.error.as_deref().and_then(|error| error.lines().next()).unwrap_or_default();
    [
        flat(job.id.as_str()),
        flat(&job.row.need),
        times.paint.status(&job.standing.to_string()),
        flat(job.row.key.as_deref().unwrap_or_default()),
        job.row.attempts.to_string(),
        times.at(job.ended_at.unwrap_or(job.row.created_at)),
        flat(error),
    ]
}

#[cfg(test)]
mod tests {
    use super::{cursor, parse_cursor};

    #[test]
    fn cursors_come_back() {
        for text in ["17", "1794916693000000.17"] {
            assert_eq!(parse_cursor(text).ok().map(cursor).as_deref(), Some(text));
        }
        for text in ["", "x", "1.", ".1", "1.x", "99999999999999999999"] {
            assert!(parse_cursor(text).is_err(), "{text}");
        }
    }
}
