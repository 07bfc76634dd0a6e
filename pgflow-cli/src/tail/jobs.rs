//! Jobs that are followed together.

use std::collections::{HashMap, HashSet};

use pgflow_runtime::backend::{JobSearch, JobStanding, JobSummary, JobsOf};
use pgflow_runtime::job::JobId;
use pgflow_runtime::{ClientError, Db, Timestamp};

use super::{KEPT, LATE, RUNS, before};
use crate::error::Error;

/// How jobs stood at the last look.
pub(super) struct Jobs {
    began: Timestamp,
    looked: Option<Timestamp>,
    known: HashMap<JobId, JobSummary>,
}

impl Jobs {
    /// What happened before nobody asked for.
    pub(super) fn new(began: Timestamp) -> Self {
        Self { began, looked: None, known: HashMap::new() }
    }

    /// Those that stand elsewhere than at the last look: jobs have no log that all of them share, so what changes twice between two
    /// looks is seen once. One that is seen for the first time is new if it is young: others were there before, among more than are
    /// listed.
    pub(super) async fn changed(
        &mut self,
        db: &Db,
        now: Timestamp,
    ) -> Result<Vec<JobSummary>, Error> {
        let since = before(self.looked.unwrap_or(now), LATE).max(self.began);
        let ended = listed(db, JobsOf::Ended, since, |job| job.ended_at).await?;
        let live = listed(db, JobsOf::Live, since, |job| Some(job.row.created_at)).await?;
        let is_first = self.looked.replace(now).is_none();
        let listed: HashSet<_> = live.iter().map(|job| job.id.clone()).collect();
        let mut changed = Vec::new();
        // The last comes first in a list, and last in a log.
        for job in ended.into_iter().rev().chain(live.into_iter().rev()) {
            let known = self.known.insert(job.id.clone(), job.clone());
            let is_news = match known {
                Some(known) => known.standing != job.standing,
                None => !is_first && job.ended_at.unwrap_or(job.row.created_at) >= since,
            };
            if is_news {
                changed.push(job);
            }
        }
        changed.extend(self.unlisted(db, now, &listed).await?);
        Ok(changed)
    }

    /// Live ones that are among more than are listed, and stand elsewhere now. Those that are gone are forgotten, and those that
    /// ended long ago; those that have just ended are listed by the next look.
    async fn unlisted(
        &mut self,
        db: &Db,
        now: Timestamp,
        listed: &HashSet<JobId>,
    ) -> Result<Vec<JobSummary>, Error> {
        self.known.retain(|_, job| job.ended_at.is_none_or(|at| at >= before(now, KEPT)));
        let is_left =
            |(id, job): &(&JobId, &JobSummary)| job.ended_at.is_none() && !listed.contains(*id);
        let left: Vec<JobId> =
            self.known.iter().filter(is_left).map(|(id, _)| id.clone()).collect();
        let jobs = db.backend().jobs().map_err(ClientError::from)?;
        let mut changed = Vec::new();
        for ids in left.chunks(RUNS as usize) {
            let standings = jobs.job_standings(ids).await.map_err(ClientError::from)?;
            let there: HashMap<_, _> = standings.into_iter().collect();
            for gone in ids.iter().filter(|id| !there.contains_key(*id)) {
                self.known.remove(gone);
            }
            for (id, standing) in there {
                let is_live = matches!(standing, JobStanding::Live(_));
                let known = self.known.get_mut(&id);
                if let Some(job) = known.filter(|job| is_live && job.standing != standing) {
                    job.standing = standing;
                    changed.push(job.clone());
                }
            }
        }
        Ok(changed)
    }
}

/// A page of the newest, and all those behind it whose moment is not before this one.
async fn listed(
    db: &Db,
    of: JobsOf,
    since: Timestamp,
    moment: impl Fn(&JobSummary) -> Option<Timestamp>,
) -> Result<Vec<JobSummary>, Error> {
    let mut all: Vec<JobSummary> = Vec::new();
    let mut next = Some(JobSearch { of, max: RUNS, ..JobSearch::default() });
    while let Some(search) = next {
        let page = db.find_jobs(&search).await?;
        all.extend(page.jobs);
        next = page.next.filter(|_| all.last().and_then(&moment).is_some_and(|at| at >= since));
    }
    Ok(all)
}
