//! Doing something to one run, or to many.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use pgflow_runtime::backend::{Parts, RunSummary};
use pgflow_runtime::{Db, RunId, RunStatus, StepStatus};
use serde_json::{Value, json};

use crate::database::{Filter, Reach, plain, run_of};
use crate::error::Error;
use crate::out;

/// Runs of a page.
const PAGE: u32 = 500;

/// Which runs, and whether to ask.
#[derive(Args)]
pub(crate) struct Bulk {
    /// Ids of runs, or the beginnings of them.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,

    #[command(flatten)]
    pub(crate) reach: Reach,

    #[command(flatten)]
    filter: Filter,

    /// Only runs whose error has this text in it.
    #[arg(long = "where", value_name = "TEXT")]
    error: Option<String>,

    /// Do nothing, and print which runs are meant.
    #[arg(long)]
    dry_run: bool,

    /// Do not ask before more than one run is changed.
    #[arg(long, short)]
    yes: bool,
}

impl Bulk {
    /// The runs that are meant, of those that are in one of these statuses.
    pub(crate) async fn chosen(
        &self,
        db: &Db,
        statuses: &[RunStatus],
    ) -> Result<Vec<RunSummary>, Error> {
        if !self.runs.is_empty() {
            if self.filter.is_set() || self.error.is_some() {
                return Err(Error::Usage(
                    "name runs, or say which with options; not both".to_owned(),
                ));
            }
            let mut ids = Vec::new();
            for run in &self.runs {
                ids.push(run_of(db, run).await?);
            }
            let found = db.backend().statuses(&ids).await;
            return Ok(found.map_err(pgflow_runtime::ClientError::from)?);
        }
        if !self.filter.is_set() && self.error.is_none() {
            return Err(Error::Usage(
                "which runs? name them, or use --flow, --status, --since or --where".to_owned(),
            ));
        }
        self.filtered(db, statuses).await
    }

    async fn filtered(&self, db: &Db, statuses: &[RunStatus]) -> Result<Vec<RunSummary>, Error> {
        let mut query = self.filter.query(db.now().await?, PAGE);
        if query.statuses.is_empty() {
            query.statuses = statuses.to_vec();
        }
        let (mut chosen, mut next) = (Vec::new(), Some(query));
        while let Some(query) = next {
            let page = db.list(&query).await?;
            for run in page.runs {
                if statuses.contains(&run.status) && self.has_error(db, run.id).await? {
                    chosen.push(run);
                }
            }
            next = page.next;
        }
        Ok(chosen)
    }

    async fn has_error(&self, db: &Db, run: RunId) -> Result<bool, Error> {
        let Some(text) = &self.error else { return Ok(true) };
        let record = db.record(run, Parts::Steps).await?;
        let failed = record.steps.iter().filter(|step| step.status == StepStatus::Failed);
        Ok(failed.filter_map(|step| step.error.as_ref()).any(|error| error.contains(&**text)))
    }

    /// Does it, to each in turn, after asking. `act` says what became of a run, and whether that was meant. What was done is printed
    /// also if something goes wrong after it.
    pub(crate) async fn apply(
        &self,
        verb: &str,
        runs: &[RunSummary],
        mut act: impl AsyncFnMut(RunId) -> Result<(String, bool), Error>,
    ) -> Result<bool, Error> {
        if !self.dry_run && runs.len() > 1 && !self.yes && !confirm(verb, runs.len(), "runs")? {
            return Err(Error::Refused("nothing was changed".to_owned()));
        }
        let (mut results, mut ended) = (Vec::new(), Ok(true));
        for run in runs {
            let done =
                if self.dry_run { Ok((format!("would {verb}"), true)) } else { act(run.id).await };
            let (outcome, is_well) = match done {
                Ok(done) => done,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            };
            ended = ended.map(|before| before && is_well);
            if !self.reach.json {
                out::line(format_args!("{}  {}  {outcome}", run.id, plain(&run.flow)))?;
            }
            results.push(json!({ "run": run.id, "flow": run.flow, "outcome": outcome }));
        }
        if self.reach.json {
            out::line(json!({ "runs": Value::Array(results), "dry_run": self.dry_run }))?;
        } else if runs.is_empty() {
            out::line("no such runs")?;
        }
        ended
    }
}

/// Asks somebody who sits at a terminal; nobody else says yes.
pub(crate) fn confirm(verb: &str, many: usize, what: &str) -> Result<bool, Error> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::Usage(format!("{verb} {many} {what}? say so with --yes")));
    }
    eprint!("{verb} {many} {what}? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_err(Error::Terminal)?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}
