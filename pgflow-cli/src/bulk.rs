//! Doing something to one run, or to many.

use std::borrow::Cow;
use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Args;
use pgflow_runtime::backend::{Parts, RunRecord, RunSummary};
use pgflow_runtime::{ClientError, Db, RunId, RunStatus, StepStatus};
use serde_json::{Value, json};

use crate::database::{Filter, Reach, flat, run_of, warn_of_unknown};
use crate::error::Error;
use crate::interrupt::{is_wanted, patiently};
use crate::out::{self, Report};
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
    /// The database, and the runs that are meant: those that are named, or of those with this status, which it can be done to.
    pub(crate) async fn chosen(&self, status: RunStatus) -> Result<(Db, Vec<RunSummary>), Error> {
        self.check(status)?;
        let db = self.reach.open().await?;
        let runs = if self.runs.is_empty() {
            self.filtered(&db, status).await?
        } else {
            self.named(&db).await?
        };
        Ok((db, runs))
    }

    /// What no database can do is said before one is asked.
    fn check(&self, status: RunStatus) -> Result<(), Error> {
        let is_filtered = self.filter.is_set() || self.error.is_some();
        let wrong = match (self.runs.is_empty(), is_filtered) {
            (false, true) => "name runs, or say which with options; not both".to_owned(),
            (true, false) => {
                "which runs? name them, or use --flow, --status, --since or --where".to_owned()
            }
            _ => match self.filter.status.iter().find(|other| **other != status) {
                Some(other) => {
                    format!("this is done to runs that are {status}, and to none that are {other}")
                }
                None => return Ok(()),
            },
        };
        Err(Error::Usage(wrong))
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

    async fn filtered(&self, db: &Db, status: RunStatus) -> Result<Vec<RunSummary>, Error> {
        warn_of_unknown(db, &self.filter.flow).await?;
        let mut query = self.filter.query(db.now().await?, PAGE);
        query.statuses = vec![status];
        let (mut chosen, mut next) = (Vec::new(), Some(query));
        while let Some(query) = next {
            let page = db.list(&query).await?;
            chosen.extend(self.with_error(db, page.runs).await?);
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

    /// Does it, to each in turn, after asking. `act` says what became of a run; `refusal`, why nothing would. What was done is printed
    /// also if something goes wrong after it, or somebody wants this to end; it is done to all of them also if nobody reads that.
    pub(crate) async fn apply(
        &self,
        verb: &str,
        runs: &[RunSummary],
        refusal: impl Fn(&RunSummary) -> Option<Became>,
        mut act: impl AsyncFnMut(RunId) -> Result<Became, Error>,
    ) -> Result<bool, Error> {
        if !self.dry_run && runs.len() > 1 && !self.yes {
            confirm(&format!("{verb} {} runs?", runs.len())).await?;
        }
        patiently();
        let progress = Progress::beside_lines("runs", runs.len(), self.reach.json);
        let (mut results, mut ended, mut report) = (Vec::new(), Ok(true), Report::default());
        for run in runs {
            let done = if is_wanted() {
                Err(Error::Interrupted)
            } else if self.dry_run {
                Ok(would(verb, refusal(run)))
            } else {
                act(run.id).await
            };
            let became = match done {
                Ok(became) => became,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            };
            ended = ended.map(|before| before && became.is_meant);
            if !self.reach.json {
                report.line(format_args!("{}  {}  {}", run.id, flat(&run.flow), became.text));
            }
            results.push(became.shape(json!({ "run": run.id, "flow": run.flow })));
            progress.show(results.len() as u64);
        }
        if self.reach.json {
            report.json(json!({ "runs": Value::Array(results), "dry_run": self.dry_run }));
        } else if runs.is_empty() {
            report.line("no such runs");
        }
        report.end(ended)
    }
}

/// What became of something that was to be changed.
pub(crate) struct Became {
    /// For programs.
    outcome: Cow<'static, str>,
    /// For people.
    pub(crate) text: String,
    /// Whether that is what was wanted.
    pub(crate) is_meant: bool,
}

impl Became {
    /// What was wanted.
    pub(crate) fn meant(outcome: &'static str, text: impl Into<String>) -> Self {
        Self { outcome: outcome.into(), text: text.into(), is_meant: true }
    }

    /// Something else.
    pub(crate) fn other(outcome: &'static str, text: impl Into<String>) -> Self {
        Self { is_meant: false, ..Self::meant(outcome, text) }
    }

    /// It is not there any more.
    pub(crate) fn gone() -> Self {
        Self::other("gone", "is gone")
    }

    /// Itself, where it says that nothing would be changed.
    pub(crate) fn refusal(self) -> Option<Self> {
        Some(self).filter(|became| !became.is_meant)
    }

    /// For programs, with what it became of.
    pub(crate) fn shape(&self, mut of: Value) -> Value {
        of["outcome"] = (*self.outcome).into();
        of["text"] = (*self.text).into();
        of
    }
}

fn has_error(record: &RunRecord, text: &str) -> bool {
    let failed = record.steps.iter().filter(|step| step.status == StepStatus::Failed);
    failed.filter_map(|step| step.error.as_ref()).any(|error| error.contains(text))
}

/// What would become of one.
pub(crate) fn would(verb: &str, refusal: Option<Became>) -> Became {
    refusal.unwrap_or_else(|| Became {
        outcome: format!("would_{verb}").into(),
        text: format!("would {verb}"),
        is_meant: true,
    })
}

/// Asks somebody who sits at a terminal; nobody else says yes.
pub(crate) async fn confirm(question: &str) -> Result<(), Error> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::Usage(format!("{question} say so with --yes")));
    }
    out::aside(format_args!("{question} [y/N] "));
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
