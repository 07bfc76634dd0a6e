//! A worker's trip to the database when it does jobs too: what of it is about tasks, and what about jobs.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::job::{JobClaim, JobProblem, JobRetry, JobSettle, JobSettled, JobVerdict};
use pgflow_machine::{Claim, Retry, Settle, Settled, Verdict, Want, WorkerId};

/// How long a lease of a job lasts if its need does not say so.
pub const LEASE: Duration = Duration::from_mins(1);

/// Before the next attempt at a job whose handler did not come to an end of its own.
const PAUSE: Duration = Duration::from_secs(5);

/// Results of tasks and of jobs, and what more is wanted of both.
#[derive(Clone, Copy, Debug)]
pub struct Trip<'a> {
    /// Who makes it.
    pub worker: WorkerId,
    /// How attempts ended.
    pub settles: &'a [Settle],
    /// What there is room for.
    pub next: Option<&'a Claim>,
    /// Any number, another one for each trip. It says who may fill the room first: nobody may starve the others.
    pub turn: u32,
}

impl Trip<'_> {
    /// The worker's name, as jobs know it.
    pub fn by(&self) -> String {
        self.worker.0.to_string()
    }

    /// The settles of tasks, with their positions.
    pub fn tasks(&self) -> (Vec<usize>, Vec<Settle>) {
        let tasks =
            self.settles.iter().enumerate().filter(|(_, settle)| settle.lease.job().is_none());
        tasks.map(|(at, settle)| (at, settle.clone())).unzip()
    }

    /// The settles of jobs, with their positions.
    pub fn jobs(&self) -> (Vec<usize>, Vec<JobSettle>) {
        let jobs = self.settles.iter().enumerate();
        jobs.filter_map(|(at, settle)| Some((at, job_settle(settle)?))).unzip()
    }

    /// The part of the claim that is about tasks, if it asks for any.
    pub fn queues(&self) -> Option<Claim> {
        let claim = self.next?;
        let is_queue = |want: &&Want| want.source.as_queue().is_some();
        let wants: Vec<_> = claim.wants.iter().filter(is_queue).cloned().collect();
        (!wants.is_empty()).then(|| Claim { wants, ..claim.clone() })
    }

    /// Whether tasks may fill the room before jobs.
    pub fn tasks_first(&self) -> bool {
        self.turn.is_multiple_of(2)
    }

    /// The claims of jobs, each of them the first at its turn: of needs without a limit one per length of a lease, and one of each need that has a limit. Each for all
    /// the room that there is, or as many as its limit says.
    pub fn needs(&self) -> Vec<JobClaim> {
        let Some(claim) = self.next else { return Vec::new() };
        let mut claims: BTreeMap<(Duration, Option<&str>), JobClaim> = BTreeMap::new();
        for want in &claim.wants {
            let Some(need) = want.source.as_need() else { continue };
            let (lease, quota) = (want.lease.unwrap_or(LEASE), want.quotas.first());
            let max = quota.map_or(claim.max, |quota| quota.max.min(claim.max));
            let new = || JobClaim { worker: self.by(), needs: Vec::new(), lease, max };
            let of_length = claims.entry((lease, quota.map(|_| need))).or_insert_with(new);
            of_length.needs.push(need.to_owned());
        }
        let mut claims: Vec<_> = claims.into_values().filter(|claim| claim.max > 0).collect();
        let first = (self.turn / 2) as usize % claims.len().max(1);
        claims.rotate_left(first);
        claims
    }
}

/// What is said instead of an end that cannot be: it fails, with the reason.
pub fn instead_of(settle: &JobSettle, problem: &JobProblem) -> JobSettle {
    let error = format!("what comes next cannot be: {problem}");
    tracing::error!(job = %settle.hold.job, error, "the end of an attempt was refused");
    let verdict = JobVerdict::Failed { error, retry: JobRetry::Never };
    JobSettle::new(settle.hold.clone(), verdict)
}

/// What became of a job's attempt, in the words of all work.
pub fn job_outcome(answer: &JobSettled) -> Settled {
    match answer {
        JobSettled::Applied => Settled::Applied,
        JobSettled::Fenced => Settled::Fenced,
        JobSettled::AlreadySettled => Settled::AlreadySettled,
        JobSettled::Cancelled => Settled::RunEnded,
        JobSettled::Unknown | JobSettled::Refused(_) => Settled::Unknown,
    }
}

/// The end of an attempt at a job, in the words of jobs.
fn job_settle(settle: &Settle) -> Option<JobSettle> {
    let hold = settle.lease.job()?.clone();
    let (verdict, submits) = match &settle.verdict {
        Verdict::Job(end) => (end.verdict.clone(), end.submits.clone()),
        Verdict::Completed(output) => (JobVerdict::Finished(output.clone()), Vec::new()),
        Verdict::Failed { error, retry } => {
            let retry = match retry {
                Retry::ByPolicy => JobRetry::After(PAUSE),
                Retry::After(delay) => JobRetry::After(*delay),
                Retry::Never => JobRetry::Never,
            };
            (JobVerdict::Failed { error: error.clone(), retry }, Vec::new())
        }
        Verdict::Released | Verdict::Yielded { .. } | Verdict::Messages(_) => {
            (JobVerdict::Released, Vec::new())
        }
    };
    Some(JobSettle { hold, verdict, submits })
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{Quota, Source};

    use super::*;

    fn want(need: &str, lease: u64, limit: Option<u32>) -> Want {
        let quotas = limit.map(|max| Quota { step: need.to_owned(), max });
        Want {
            source: Source::Need(need.to_owned()),
            quotas: quotas.into_iter().collect(),
            lease: Some(Duration::from_secs(lease)),
            stage: None,
            ahead: 0,
        }
    }

    #[test]
    fn needs_with_the_same_lease_are_asked_for_together_unless_they_have_a_limit() {
        let wants = vec![
            want("a", 60, None),
            want("b", 60, None),
            want("c", 5, None),
            want("d", 60, Some(2)),
            want("e", 60, Some(0)),
            Want::from(Source::queue("flow")),
        ];
        let worker = WorkerId::new();
        let claim = Claim { wants, max: 8, worker };
        let trip = |turn| Trip { worker, settles: &[], next: Some(&claim), turn };
        let asked = |turn| -> Vec<_> {
            trip(turn).needs().into_iter().map(|claim| (claim.needs.concat(), claim.max)).collect()
        };
        let [c, ab, d] =
            [("c", 8), ("ab", 8), ("d", 2)].map(|(needs, max)| (needs.to_owned(), max));
        assert_eq!(asked(0), [c.clone(), ab.clone(), d.clone()]);
        assert_eq!(asked(3), [ab.clone(), d.clone(), c.clone()], "each is the first at times");
        assert_eq!(asked(5), [d, c, ab]);
        assert!(trip(0).queues().expect("a queue").queues().eq(["flow"]));
        assert!(trip(0).tasks_first() && !trip(1).tasks_first());
    }
}
