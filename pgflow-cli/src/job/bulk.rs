//! Doing something to one job, or to many.

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobSearch, JobStanding, JobSummary};
use pgflow_runtime::job::JobId;
use serde_json::{Value, json};

use super::job_named;
use super::ls::{Filter, Which};
use crate::bulk::{Became, confirm, would};
use crate::database::{Reach, flat};
use crate::error::Error;
use crate::interrupt::{is_wanted, patiently};
use crate::out::Report;
use crate::progress::Progress;

/// Jobs of a page.
const PAGE: u32 = 500;
/// Jobs that one transaction changes: others do not wait long for it.
pub(crate) const BATCH: usize = 500;

/// Which jobs, and whether to ask.
#[derive(Args)]
pub(crate) struct Bulk {
    /// Names of jobs, whole ones: another may begin with one that is gone.
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
    /// The database, once it is clear that something is asked for that can be done to these.
    pub(crate) async fn open(&self, of: &[Which]) -> Result<Db, Error> {
        let Filter { need, key, status } = &self.filter;
        let is_filtered =
            need.is_some() || key.is_some() || status.is_some() || self.error.is_some();
        let wrong = match (self.jobs.is_empty(), is_filtered || self.all) {
            (false, true) => "name jobs, or say which with options; not both",
            (true, false) => {
                "which jobs? name them, or use --need, --key, --status, --where or --all"
            }
            _ if status.is_some_and(|status| !of.iter().any(|of| is_among(status, *of))) => {
                "this is never done to jobs of that status"
            }
            _ => return self.reach.open().await,
        };
        Err(Error::Usage(wrong.to_owned()))
    }

    /// The jobs that are meant: by name, or of those that it can be done to.
    pub(crate) async fn chosen(&self, db: &Db, of: &[Which]) -> Result<Vec<JobSummary>, Error> {
        if self.jobs.is_empty() { self.filtered(db, of).await } else { self.named(db).await }
    }

    async fn named(&self, db: &Db) -> Result<Vec<JobSummary>, Error> {
        let mut jobs: Vec<JobSummary> = Vec::new();
        for name in &self.jobs {
            let job = job_named(db, name).await?;
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

    /// Does it to all of them, after asking, so many at once. `act` says for each what became of it; `refusal`, why nothing would.
    /// What was done is printed also if something goes wrong after it, or somebody wants this to end; it is done to all of them also
    /// if nobody reads that.
    pub(crate) async fn apply(
        &self,
        verb: &str,
        jobs: &[JobSummary],
        at_once: usize,
        refusal: impl Fn(JobStanding) -> Option<Became>,
        mut act: impl AsyncFnMut(&[JobId]) -> Result<Vec<Became>, Error>,
    ) -> Result<bool, Error> {
        let is_many = !self.dry_run && jobs.len() > 1;
        if is_many && !self.yes {
            confirm(&format!("{verb} {} jobs?", jobs.len())).await?;
        }
        patiently();
        let progress = Progress::beside_lines("jobs", jobs.len(), self.reach.json);
        let (mut results, mut ended, mut done_so_far) = (Vec::new(), Ok(true), 0);
        let mut report = Report::default();
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
                Ok(all) => {
                    let is_well = all.iter().all(|became| became.is_meant);
                    ended = ended.map(|before| before && is_well);
                    results.extend(batch.iter().zip(all).map(|one| self.note(one, &mut report)));
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
            report.json(json!({ "jobs": Value::Array(results), "dry_run": self.dry_run }));
        } else if jobs.is_empty() {
            report.line("no such jobs");
        }
        report.end(ended)
    }

    /// Prints what became of one, for people; for programs it is kept for the end.
    fn note(&self, (job, became): (&JobSummary, Became), report: &mut Report) -> Value {
        if !self.reach.json {
            let (id, need) = (flat(job.id.as_str()), flat(&job.row.need));
            report.line(format_args!("{id}  {need}  {}", became.text));
        }
        became.shape(json!({ "job": job.id, "need": job.row.need }))
    }
}

/// Whether all jobs of a kind are of another.
fn is_among((of, state): Which, (whole, only): Which) -> bool {
    of == whole && only.is_none_or(|only| state == Some(only))
}
