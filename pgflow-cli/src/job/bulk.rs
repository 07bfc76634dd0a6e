//! Doing something to one job, or to many.

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobSearch, JobStanding, JobSummary};
use pgflow_runtime::job::JobId;
use serde_json::{Value, json};

use super::job_of;
use super::ls::{Filter, Which};
use crate::bulk::{confirm, would};
use crate::database::{Reach, flat};
use crate::error::Error;
use crate::interrupt::{is_wanted, patiently};
use crate::out;
use crate::progress::Progress;

/// Jobs of a page.
const PAGE: u32 = 500;
/// Jobs that one transaction changes: others do not wait long for it.
pub(crate) const BATCH: usize = 500;

/// Which jobs, and whether to ask.
#[derive(Args)]
pub(crate) struct Bulk {
    /// Names of jobs, or the beginnings of them.
    #[arg(value_name = "JOB")]
    jobs: Vec<String>,

    #[command(flatten)]
    pub(crate) reach: Reach,

    #[command(flatten)]
    filter: Filter,

    /// All that it can be done to.
    #[arg(long, conflicts_with = "jobs")]
    all: bool,

    /// Only jobs whose error has this text in it.
    #[arg(long = "where", value_name = "TEXT")]
    error: Option<String>,

    /// Do nothing, and print which jobs are meant.
    #[arg(long)]
    dry_run: bool,

    /// Do not ask before more than one job is changed.
    #[arg(long, short)]
    yes: bool,
}

impl Bulk {
    /// The jobs that are meant: by name, or of those that it can be done to.
    pub(crate) async fn chosen(&self, db: &Db, of: &[Which]) -> Result<Vec<JobSummary>, Error> {
        let Filter { need, key, status } = &self.filter;
        let is_filtered =
            need.is_some() || key.is_some() || status.is_some() || self.error.is_some();
        match (self.jobs.is_empty(), is_filtered || self.all) {
            (false, true) => {
                Err(Error::Usage("name jobs, or say which with options; not both".to_owned()))
            }
            (true, false) => Err(Error::Usage(
                "which jobs? name them, or use --need, --key, --status, --where or --all"
                    .to_owned(),
            )),
            (false, false) => self.named(db).await,
            (true, true) => self.filtered(db, of).await,
        }
    }

    async fn named(&self, db: &Db) -> Result<Vec<JobSummary>, Error> {
        let mut jobs: Vec<JobSummary> = Vec::new();
        for name in &self.jobs {
            let job = job_of(db, name).await?;
            if jobs.iter().all(|known| known.id != job.id) {
                jobs.push(job);
            }
        }
        Ok(jobs)
    }

    async fn filtered(&self, db: &Db, of: &[Which]) -> Result<Vec<JobSummary>, Error> {
        let has_error = |job: &JobSummary| {
            let error = job.error.as_deref().unwrap_or_default();
            self.error.as_deref().is_none_or(|text| error.contains(text))
        };
        // One that was named is the only one that is asked for.
        let kinds = if self.filter.status.is_some() { &of[..1] } else { of };
        let mut chosen = Vec::new();
        for kind in kinds {
            let mut next: Option<JobSearch> = Some(self.filter.search(*kind, PAGE));
            while let Some(search) = next {
                let page = db.find_jobs(&search).await?;
                chosen.extend(page.jobs.into_iter().filter(has_error));
                next = page.next;
            }
        }
        Ok(chosen)
    }

    /// Does it to all of them, after asking, so many at once. `act` says for each what became of it, and whether that was meant;
    /// `refusal`, why nothing would. What was done is printed also if something goes wrong after it, or somebody wants this to end.
    pub(crate) async fn apply(
        &self,
        verb: &str,
        jobs: &[JobSummary],
        at_once: usize,
        refusal: impl Fn(JobStanding) -> Option<String>,
        mut act: impl AsyncFnMut(&[JobId]) -> Result<Vec<(String, bool)>, Error>,
    ) -> Result<bool, Error> {
        let is_many = !self.dry_run && jobs.len() > 1;
        if is_many && !self.yes {
            confirm(verb, jobs.len(), "jobs").await?;
        }
        patiently();
        let progress = Progress::beside_lines("jobs", jobs.len(), self.reach.json);
        let (mut results, mut ended, mut done_so_far) = (Vec::new(), Ok(true), 0);
        for batch in jobs.chunks(at_once.max(1)) {
            let ids: Vec<JobId> = batch.iter().map(|job| job.id.clone()).collect();
            let done = if is_wanted() {
                Err(Error::Interrupted)
            } else if self.dry_run {
                Ok(batch.iter().map(|job| would(verb, refusal(job.standing))).collect())
            } else {
                act(&ids).await
            };
            match done {
                Ok(outcomes) => {
                    let is_well = outcomes.iter().all(|(_, is_well)| *is_well);
                    ended = ended.map(|before| before && is_well);
                    self.note(batch, outcomes, &mut results)?;
                    done_so_far += batch.len() as u64;
                    progress.show(done_so_far);
                }
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        if self.reach.json {
            out::line(json!({ "jobs": results, "dry_run": self.dry_run }))?;
        } else if jobs.is_empty() {
            out::line("no such jobs")?;
        }
        ended
    }

    /// Prints what became of a batch, or keeps it for the end.
    fn note(
        &self,
        batch: &[JobSummary],
        outcomes: Vec<(String, bool)>,
        results: &mut Vec<Value>,
    ) -> Result<(), Error> {
        for (job, (outcome, _)) in batch.iter().zip(outcomes) {
            if self.reach.json {
                results.push(json!({ "job": job.id, "need": job.row.need, "outcome": outcome }));
            } else {
                let (id, need) = (flat(job.id.as_str()), flat(&job.row.need));
                out::line(format_args!("{id}  {need}  {outcome}"))?;
            }
        }
        Ok(())
    }
}
