//! Doing something to one run, or to many.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use pgflow_runtime::backend::{Parts, RunRecord, RunSummary};
use pgflow_runtime::{ClientError, Db, RunId, RunStatus, StepStatus};
use serde_json::{Value, json};

use crate::database::{Filter, Reach, flat, run_of, warn_of_unknown};
use crate::error::Error;
use crate::interrupt::{is_wanted, patiently};
use crate::out;
use crate::progress::Progress;

/// Runs of a page.
const PAGE: u32 = 500;
/// Runs whose errors are read at once.
const AT_ONCE: usize = 16;

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
    /// The runs that are meant: those that are named, or of those that are in one of these statuses.
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
            return self.named(db).await;
        }
        if !self.filter.is_set() && self.error.is_none() {
            return Err(Error::Usage(
                "which runs? name them, or use --flow, --status, --since or --where".to_owned(),
            ));
        }
        self.filtered(db, statuses).await
    }

    /// Each once, in the order in which they are named, whatever became of them.
    async fn named(&self, db: &Db) -> Result<Vec<RunSummary>, Error> {
        let mut ids = Vec::new();
        for run in &self.runs {
            let id = run_of(db, run).await?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut found = db.backend().statuses(&ids).await.map_err(ClientError::from)?;
        found.sort_by_key(|run| ids.iter().position(|id| *id == run.id));
        Ok(found)
    }

    async fn filtered(&self, db: &Db, statuses: &[RunStatus]) -> Result<Vec<RunSummary>, Error> {
        warn_of_unknown(db, &self.filter.flow).await?;
        let mut query = self.filter.query(db.now().await?, PAGE);
        if query.statuses.is_empty() {
            query.statuses = statuses.to_vec();
        }
        let (mut chosen, mut next) = (Vec::new(), Some(query));
        while let Some(query) = next {
            let page = db.list(&query).await?;
            let runs = page.runs.into_iter().filter(|run| statuses.contains(&run.status));
            chosen.extend(self.with_error(db, runs.collect()).await?);
            next = page.next;
        }
        Ok(chosen)
    }

    /// Those whose error has the text in it that was asked for, in order. Some are read at once.
    async fn with_error(&self, db: &Db, runs: Vec<RunSummary>) -> Result<Vec<RunSummary>, Error> {
        let Some(text) = &self.error else { return Ok(runs) };
        let mut chosen = Vec::new();
        for batch in runs.chunks(AT_ONCE) {
            let read = |run: &RunSummary| {
                let (db, id) = (db.clone(), run.id);
                tokio::spawn(async move { db.record(id, Parts::Steps).await })
            };
            let records: Vec<_> = batch.iter().map(read).collect();
            for (run, record) in batch.iter().zip(records) {
                match record.await.map_err(|error| Error::Runtime(io::Error::other(error)))? {
                    Ok(record) if has_error(&record, text) => chosen.push(run.clone()),
                    // Somebody has deleted it meanwhile.
                    Ok(_) | Err(ClientError::UnknownRun { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(chosen)
    }

    /// Does it, to each in turn, after asking. `act` says what became of a run, and whether that was meant; `refusal`, why nothing
    /// would. What was done is printed also if something goes wrong after it, or somebody wants this to end.
    pub(crate) async fn apply(
        &self,
        verb: &str,
        runs: &[RunSummary],
        refusal: impl Fn(&RunSummary) -> Option<String>,
        mut act: impl AsyncFnMut(RunId) -> Result<(String, bool), Error>,
    ) -> Result<bool, Error> {
        if !self.dry_run && runs.len() > 1 && !self.yes {
            confirm(verb, runs.len(), "runs").await?;
        }
        patiently();
        let progress = Progress::beside_lines("runs", runs.len(), self.reach.json);
        let (mut results, mut ended) = (Vec::new(), Ok(true));
        for run in runs {
            let done = if is_wanted() {
                Err(Error::Interrupted)
            } else if self.dry_run {
                Ok(would(verb, refusal(run)))
            } else {
                act(run.id).await
            };
            let (outcome, is_well) = match done {
                Ok(done) => done,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            };
            ended = ended.map(|before| before && is_well);
            if !self.reach.json {
                out::line(format_args!("{}  {}  {outcome}", run.id, flat(&run.flow)))?;
            }
            results.push(json!({ "run": run.id, "flow": run.flow, "outcome": outcome }));
            progress.show(results.len() as u64);
        }
        if self.reach.json {
            out::line(json!({ "runs": Value::Array(results), "dry_run": self.dry_run }))?;
        } else if runs.is_empty() {
            out::line("no such runs")?;
        }
        ended
    }
}

fn has_error(record: &RunRecord, text: &str) -> bool {
    let failed = record.steps.iter().filter(|step| step.status == StepStatus::Failed);
    failed.filter_map(|step| step.error.as_ref()).any(|error| error.contains(text))
}

/// What would become of one, and whether that is meant.
pub(crate) fn would(verb: &str, refusal: Option<String>) -> (String, bool) {
    match refusal {
        Some(refusal) => (refusal, false),
        None => (format!("would {verb}"), true),
    }
}

/// Asks somebody who sits at a terminal; nobody else says yes.
pub(crate) async fn confirm(verb: &str, many: usize, what: &str) -> Result<(), Error> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::Usage(format!("{verb} {many} {what}? say so with --yes")));
    }
    eprint!("{verb} {many} {what}? [y/N] ");
    let _ = std::io::stderr().flush();
    // Ctrl-C is heard meanwhile.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    let answer = answer.await.map_err(io::Error::other).flatten().map_err(Error::Terminal)?;
    if is_yes(&answer) { Ok(()) } else { Err(Error::Refused("nothing was changed".to_owned())) }
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn a_yes_is_a_word_or_its_first_letter() {
        for yes in ["y\n", "Y", "yes\n", " YES "] {
            assert!(is_yes(yes), "{yes}");
        }
        for no in ["", "\n", "n", "no", "yess", "ye"] {
            assert!(!is_yes(no), "{no}");
        }
    }
}
