//! `pgflow tail`.

mod jobs;
mod runs;

use std::time::Duration;

use clap::Args;
use pgflow_runtime::backend::{JobSummary, Parts};
use pgflow_runtime::{Db, Event, RunId, Timestamp};
use serde_json::json;

use crate::database::{Reach, Times, flat, folded, paint, run_of, warn_of_unknown};
use crate::error::Error;
use crate::interrupt::{interrupted, patiently};
use crate::out;
use crate::run::{event as event_json, said};
use jobs::Jobs;
use runs::Runs;

/// Between two looks at all runs.
const PAUSE: Duration = Duration::from_millis(500);
/// Open runs, live jobs, and others that are read at once; the newest.
const RUNS: u32 = 500;
/// What is written may be seen so much later than the moment that it bears: a transaction takes its time.
const LATE: Duration = Duration::from_secs(10);
/// What has ended is forgotten so long after that.
const KEPT: Duration = Duration::from_mins(10);

/// What to follow.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow tail 019a3f                   until the run has ended
  pgflow tail 019a3f --after 12        where an earlier reader stopped
  pgflow tail                          everything that happens in runs, and how jobs change
  pgflow tail --flow order             everything that happens in runs of a flow
  pgflow tail --limit 10 --json        ten events, one JSON object per line

Of one run it goes on after any event (`--after`). Of all together it begins now: it follows the newest 500 runs that
are open, and all that begin later, each to its end, and jobs in the same way; what happened while nobody looked is in `pgflow show --events`.")]
pub(crate) struct Tail {
    /// The run's id, or the beginning of it; without it, all runs and jobs, from now on.
    run: Option<String>,

    #[command(flatten)]
    reach: Reach,

    /// Only runs of this flow; may be repeated.
    #[arg(long, value_name = "FLOW", conflicts_with = "run")]
    flow: Vec<String>,

    /// Only events after this number of the run; all runs together have no numbers.
    #[arg(long, value_name = "SEQ", requires = "run")]
    after: Option<u64>,

    /// End after so many events.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

pub(crate) async fn run(command: &Tail) -> Result<bool, Error> {
    command.follow(&command.reach.open().await?).await?;
    Ok(true)
}

impl Tail {
    /// All runs and jobs, from now on.
    #[cfg(feature = "web")]
    pub(crate) fn everything(reach: Reach) -> Self {
        Self { run: None, reach, flow: Vec::new(), after: None, limit: None }
    }

    /// Prints what happens.
    pub(crate) async fn follow(&self, db: &Db) -> Result<(), Error> {
        warn_of_unknown(db, &self.flow).await?;
        let left = self.limit.unwrap_or(u64::MAX);
        let mut printer = Printer { command: self, left, now: db.now().await? };
        match &self.run {
            Some(run) => follow(db, run_of(db, run).await?, &mut printer).await,
            None => follow_all(db, &mut printer).await,
        }
    }
}

struct Printer<'a> {
    command: &'a Tail,
    left: u64,
    now: Timestamp,
}

impl Printer<'_> {
    /// Prints how a job stands; whether there may be more.
    fn print_job(&mut self, job: &JobSummary) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let (id, need, status) = (&job.id, &job.row.need, job.standing.to_string());
        if self.command.reach.json {
            let error = &job.error;
            out::json(json!({ "job": id, "need": need, "status": status, "error": error }))?;
        } else {
            let error = job.error.as_deref().map(|error| format!("  {}", folded(error)));
            let (need, id) = (flat(need), flat(id.as_str()));
            out::line(format_args!("now  {need} {id}  {status}{}", error.unwrap_or_default()))?;
        }
        Ok(self.left > 0)
    }

    /// Prints an event; whether there may be more.
    fn print(&mut self, run: RunId, flow: Option<&str>, event: &Event) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.now = self.now.max(event.at);
        if self.command.reach.json {
            let mut json = event_json(event);
            json["run"] = run.to_string().into();
            json["flow"] = flow.map(str::to_owned).into();
            out::json(json)?;
        } else {
            let times = Times::new(self.now, self.command.reach.utc, paint());
            let text = said(&event.what);
            let flow = flow.map(|flow| format!("{flow} ")).unwrap_or_default();
            out::line(format_args!(
                "{}  {flow}{run} {:>3}  {text}",
                times.at(event.at),
                event.seq
            ))?;
        }
        Ok(self.left > 0)
    }
}

async fn follow(db: &Db, run: RunId, printer: &mut Printer<'_>) -> Result<(), Error> {
    let flow = db.record(run, Parts::Steps).await?.flow;
    // Whoever named the run knows its flow; a program that reads many may not.
    let flow = printer.command.reach.json.then_some(&*flow);
    let mut events = db.events_of(run, printer.command.after.unwrap_or(0));
    while let Some(event) = events.next().await {
        if !printer.print(run, flow, &event?)? {
            break;
        }
    }
    Ok(())
}

/// Looks at runs and jobs, again and again, until somebody has seen enough.
async fn follow_all(db: &Db, printer: &mut Printer<'_>) -> Result<(), Error> {
    patiently();
    tokio::select! {
        ended = look_again(db, printer) => ended,
        () = interrupted() => Ok(()),
    }
}

async fn look_again(db: &Db, printer: &mut Printer<'_>) -> Result<(), Error> {
    let flows = &printer.command.flow;
    let mut runs = Runs::new(flows, printer.now);
    // A flow has no jobs.
    let mut jobs = (db.has_jobs() && flows.is_empty()).then(|| Jobs::new(printer.now));
    loop {
        // What changes while this looks is seen by the next look.
        let now = db.now().await?;
        if let Some(jobs) = &mut jobs {
            for job in jobs.changed(db, now).await? {
                if !printer.print_job(&job)? {
                    return Ok(());
                }
            }
        }
        if !runs.look(db, now, printer).await? {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A moment, so long before another.
fn before(at: Timestamp, time: Duration) -> Timestamp {
    Timestamp::from_micros(at.micros() - i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}
