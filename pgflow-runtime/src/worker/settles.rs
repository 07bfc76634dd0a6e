//! Results that wait to be recorded.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use pgflow_machine::job::{JobEnd, JobRetry, JobVerdict};
use pgflow_machine::permit::MessageEnd;
use pgflow_machine::wait::{Awaited, NewWait};
use pgflow_machine::{Lease, Settle, Until, Verdict};
use tokio::time::Instant;

use super::refused::Refused;
use pgflow_backend::weight::weight;

/// Results are sent in batches of at most so many.
pub(super) const BATCH: usize = 500;
/// And of about so many bytes, a single larger one excepted: some payloads of the largest kind, and far from what a
/// database takes in one message or can do before it counts as gone.
pub(super) const BATCH_BYTES: usize = 16 << 20;

/// Results that wait to be recorded. While one batch is on its way the next one gathers, so that batches
/// are large under load, and nothing waits when there is none.
#[derive(Debug)]
pub(super) struct Settles {
    /// In the order in which databases lock.
    waiting: BTreeMap<Lease, Waiting>,
    /// What they weigh together.
    bytes: usize,
    /// The next batch has at most so many: a batch that fails is cut in half, until the one is found that is at fault.
    most: usize,
    /// The next batch begins after this one, so that what fails does not keep the others.
    after: Option<Lease>,
    /// The last batch failed together with a claim, which may be at fault: the next one goes without.
    alone: bool,
    /// How many of them should have been recorded before.
    overdue: usize,
    pub(super) refused: Refused,
}

#[derive(Debug)]
struct Waiting {
    verdict: Verdict,
    bytes: usize,
}

impl Default for Settles {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            bytes: 0,
            most: BATCH,
            after: None,
            alone: false,
            overdue: 0,
            refused: Refused::default(),
        }
    }
}

impl Settles {
    pub(super) fn push(&mut self, Settle { lease, verdict }: Settle) {
        let bytes = weight_of(&verdict);
        self.bytes += bytes;
        if let Some(replaced) = self.waiting.insert(lease, Waiting { verdict, bytes }) {
            self.bytes -= replaced.bytes;
        }
    }

    pub(super) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.waiting.keys().chain(self.refused.leases())
    }

    /// Whether any waits for the next trip.
    pub(super) fn any_wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether all are recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are not recorded, those included that were refused.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.refused.len()
    }

    /// The next batch.
    pub(super) fn take(&mut self) -> Vec<Settle> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < self.most
            && let Some(lease) = self.next()
            && let Some(waiting) = self.take_if(&lease, batch.is_empty(), BATCH_BYTES - bytes)
        {
            bytes = (bytes + waiting.bytes).min(BATCH_BYTES);
            self.after = Some(lease.clone());
            batch.push(Settle { lease, verdict: waiting.verdict });
        }
        batch.sort_unstable_by(|one, other| one.lease.cmp(&other.lease));
        batch
    }

    /// The first after the last one, or the first of all.
    fn next(&self) -> Option<Lease> {
        let after = self
            .after
            .as_ref()
            .and_then(|after| self.waiting.range((Excluded(after), Unbounded)).next());
        after.or_else(|| self.waiting.first_key_value()).map(|(lease, _)| lease.clone())
    }

    /// Takes one that is the first or not too heavy.
    fn take_if(&mut self, lease: &Lease, is_first: bool, room: usize) -> Option<Waiting> {
        if !is_first && self.waiting.get(lease)?.bytes > room {
            return None;
        }
        let taken = self.waiting.remove(lease)?;
        self.bytes -= taken.bytes;
        Some(taken)
    }

    /// Whether a claim may go along with the batch that was taken. Not while more waits than a batch can carry: tasks would
    /// come in faster than results go out, and memory has an end.
    pub(super) fn may_claim(&self) -> bool {
        !self.alone && self.bytes < BATCH_BYTES
    }

    /// Whether results wait because the database did not answer. Their leases may have run out meanwhile.
    pub(super) fn are_overdue(&self) -> bool {
        self.overdue > 0
    }

    /// So many were recorded: the next batch may be larger again.
    pub(super) fn recorded(&mut self, count: usize) {
        if count > 0 {
            (self.most, self.alone) = ((self.most * 2).min(BATCH), false);
            self.overdue = self.overdue.saturating_sub(count);
            self.refused.recorded();
        }
    }

    /// The batch may or may not have been recorded: it is sent again, in parts should it be too much at once.
    pub(super) fn unanswered(&mut self, batch: Vec<Settle>) {
        self.put_back(batch);
        self.overdue = self.waiting.len();
    }

    /// The database refused the batch. Whatever is wrong with one of them must not keep the others; what is refused
    /// all by itself is set aside, and tried again from time to time.
    pub(super) fn refused(&mut self, mut batch: Vec<Settle>, with_claim: bool, now: Instant) {
        match batch.pop() {
            Some(settle) if batch.is_empty() && !with_claim => {
                self.overdue = self.overdue.saturating_sub(1);
                self.refused.add(settle, now);
            }
            last => self.put_back(batch.into_iter().chain(last).collect()),
        }
    }

    /// The database cannot store one of them. A single one becomes a failure that says so, if it has something of its function's.
    pub(super) fn unstorable(
        &mut self,
        mut batch: Vec<Settle>,
        with_claim: bool,
        why: &str,
        now: Instant,
    ) {
        let failed = match &batch[..] {
            [Settle { verdict, .. }] if !with_claim => failed(verdict, why),
            _ => None,
        };
        let Some(failed) = failed else { return self.refused(batch, with_claim, now) };
        for settle in &mut batch {
            settle.verdict = failed.clone();
        }
        self.push_all(batch);
    }

    /// One that was refused is recorded now: the others may have more luck as well.
    pub(super) fn reconsider(&mut self) {
        let refused: Vec<_> = self.refused.take_all().collect();
        self.push_all(refused);
    }

    fn put_back(&mut self, batch: Vec<Settle>) {
        if batch.is_empty() {
            return;
        }
        self.most = (batch.len() / 2).max(1);
        self.alone = true;
        self.push_all(batch);
    }

    fn push_all(&mut self, settles: impl IntoIterator<Item = Settle>) {
        for settle in settles {
            self.push(settle);
        }
    }
}

/// What is recorded instead of a verdict that has something in it which would be refused again: an output, or what it waits for,
/// forks or emits. Of messages that were settled together, those that have nothing of that end as they were to.
fn failed(verdict: &Verdict, why: &str) -> Option<Verdict> {
    let error = format!("the database refused the output: {why}");
    match verdict {
        Verdict::Messages(ends) if ends.iter().any(is_refusable) => {
            let dead = JobVerdict::Failed { error, retry: JobRetry::Never };
            let end = |end: &MessageEnd| {
                if is_refusable(end) { dead.clone().into() } else { end.clone() }
            };
            Some(Verdict::Messages(ends.iter().map(end).collect()))
        }
        Verdict::Job(end) if has_value(&end.verdict) || !end.submits.is_empty() => {
            let verdict = JobVerdict::Failed { error, retry: JobRetry::Never };
            Some(Verdict::Job(Box::new(JobEnd { verdict, submits: Vec::new() })))
        }
        Verdict::Completed(_) | Verdict::Yielded { until: Until::Met(_), .. } => {
            Some(Verdict::Failed { error, retry: pgflow_machine::Retry::Never })
        }
        _ => None,
    }
}

fn is_refusable(end: &MessageEnd) -> bool {
    has_value(&end.verdict) || !end.emits.is_empty() || end.batch_key.is_some()
}

fn has_value(verdict: &JobVerdict) -> bool {
    matches!(verdict, JobVerdict::Finished(_) | JobVerdict::HandedOver(_))
}

/// About as many bytes as it has when it is sent.
pub(super) fn weight_of(verdict: &Verdict) -> usize {
    match verdict {
        Verdict::Completed(output) => weight(output),
        Verdict::Failed { error, .. } => error.len(),
        Verdict::Released => 0,
        Verdict::Yielded { until: Until::Met(wait), reason } => reason.len() + weight_of_wait(wait),
        Verdict::Yielded { reason, .. } => reason.len(),
        Verdict::Job(end) => weight_of_job(end),
        Verdict::Messages(ends) => ends.iter().map(weight_of_message).sum(),
    }
}

fn weight_of_wait(wait: &NewWait) -> usize {
    let own = wait.schema.as_ref().map_or(0, weight);
    own + match &wait.on {
        Awaited::Hook(_) | Awaited::Sleep(_) => 0,
        Awaited::Runs { children, .. } => children.iter().map(|child| weight(&child.input)).sum(),
        Awaited::Jobs { jobs, .. } => jobs.iter().map(|job| weight(&job.payload)).sum(),
    }
}

fn weight_of_job(JobEnd { verdict, submits }: &JobEnd) -> usize {
    weight_of_end(verdict) + submits.iter().map(|new| weight(&new.payload)).sum::<usize>()
}

fn weight_of_message(MessageEnd { verdict, emits, .. }: &MessageEnd) -> usize {
    weight_of_end(verdict) + emits.iter().map(|new| weight(&new.job.payload)).sum::<usize>()
}

fn weight_of_end(verdict: &JobVerdict) -> usize {
    match verdict {
        JobVerdict::Finished(output) => weight(output),
        JobVerdict::Failed { error, .. } => error.len(),
        JobVerdict::HandedOver(to) => to.payload.as_ref().map_or(0, weight),
        JobVerdict::Released => 0,
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey, TaskLease};
    use serde_json::Value;

    use super::*;

    fn settle(index: u32, verdict: Verdict) -> Settle {
        let run = RunId::from_key("flow", "run");
        Settle {
            lease: TaskLease { task: TaskKey { run, step: "step".into(), index }, attempt: 1 }
                .into(),
            verdict,
        }
    }

    fn index(lease: &Lease) -> u32 {
        lease.task().map_or(u32::MAX, |lease| lease.task.index)
    }

    fn indexes(batch: &[Settle]) -> Vec<u32> {
        batch.iter().map(|settle| index(&settle.lease)).collect()
    }

    fn some(indexes: impl IntoIterator<Item = u32>) -> Settles {
        let mut settles = Settles::default();
        for index in indexes {
            settles.push(settle(index, Verdict::Completed(Value::Null)));
        }
        settles
    }

    #[test]
    fn a_batch_is_in_order() {
        assert_eq!(indexes(&some([2, 0, 1]).take()), [0, 1, 2]);
    }

    #[test]
    fn an_unknown_outcome_is_asked_for_again() {
        let mut settles = some(0..3);
        let batch = settles.take();
        assert!(!settles.any_wait());
        settles.push(settle(7, Verdict::Released));
        settles.unanswered(batch);
        assert!(settles.are_overdue() && !settles.may_claim());
        let mut sent = Vec::new();
        while settles.any_wait() {
            let batch = settles.take();
            settles.recorded(batch.len());
            sent.extend(indexes(&batch));
        }
        sent.sort_unstable();
        assert_eq!(sent, [0, 1, 2, 7]);
        assert!(!settles.are_overdue() && settles.may_claim());
    }

    #[test]
    fn a_batch_has_a_limit_in_bytes_and_the_largest_payload_goes_alone() {
        let mut settles = Settles::default();
        let output = |bytes| Verdict::Completed("x".repeat(bytes).into());
        settles.push(settle(0, output(BATCH_BYTES * 2)));
        for index in 1..10 {
            settles.push(settle(index, output(BATCH_BYTES / 3)));
        }
        assert!(!settles.may_claim(), "more would come in than goes out");
        let mut batches = Vec::new();
        while settles.any_wait() {
            batches.push(indexes(&settles.take()));
        }
        assert_eq!(batches[0], [0]);
        assert!(batches[1..].iter().all(|batch| (1..=3).contains(&batch.len())), "{batches:?}");
        assert_eq!(batches.concat(), (0..10).collect::<Vec<_>>());
        assert_eq!(settles.bytes, 0);
    }

    /// A database that stores everything but the bad ones; returns how often it was asked.
    fn settle_all(settles: &mut Settles, bad: &[u32], is_payload: bool) -> usize {
        let (mut calls, now) = (0, Instant::now());
        while settles.any_wait() {
            calls += 1;
            let batch = settles.take();
            let is_bad = |settle: &Settle| {
                bad.contains(&index(&settle.lease))
                    && matches!(settle.verdict, Verdict::Completed(_))
            };
            match batch.iter().any(is_bad) {
                true if is_payload => settles.unstorable(batch, false, "too odd", now),
                true => settles.refused(batch, false, now),
                false => settles.recorded(batch.len()),
            }
            assert!(calls < 200, "no progress: {settles:?}");
        }
        calls
    }

    #[test]
    fn one_bad_result_does_not_keep_the_others() {
        for bad in [0, 250, 499] {
            let mut settles = some(0..500);
            let calls = settle_all(&mut settles, &[bad], false);
            assert!(calls < 60, "{calls}");
            let aside: Vec<_> = settles.refused.leases().map(index).collect();
            assert_eq!((aside, settles.len()), (vec![bad], 1), "it waits, and is not lost");
            settles.reconsider();
            assert_eq!(indexes(&settles.take()), [bad]);
        }
    }

    #[test]
    fn only_what_cannot_be_stored_fails() {
        let mut settles = some(0..500);
        settle_all(&mut settles, &[7, 8], true);
        assert_eq!(settles.len(), 0, "both are recorded as failures");
    }

    /// It was retried for ever, and no other work was taken after a few of them.
    #[test]
    fn messages_and_jobs_that_cannot_be_stored_fail() {
        let refused = |verdict: Verdict| {
            let mut settles = Settles::default();
            settles.push(settle(1, verdict));
            let batch = settles.take();
            settles.unstorable(batch, false, "too odd", Instant::now());
            settles.take().pop().map(|settle| settle.verdict)
        };
        let finished = JobVerdict::Finished(Value::Null);
        let is_dead = |verdict: &JobVerdict| {
            matches!(verdict, JobVerdict::Failed { retry: JobRetry::Never, .. })
        };
        let ends = vec![finished.clone().into(), JobVerdict::Released.into()];
        let Some(Verdict::Messages(ends)) = refused(Verdict::Messages(ends)) else {
            panic!("ends of messages");
        };
        assert!(is_dead(&ends[0].verdict) && ends[1].verdict == JobVerdict::Released);
        let job =
            |verdict| refused(Verdict::Job(Box::new(JobEnd { verdict, submits: Vec::new() })));
        let Some(Verdict::Job(end)) = job(finished) else { panic!("the end of a job") };
        assert!(is_dead(&end.verdict));
        assert_eq!(job(JobVerdict::Released), None, "nothing is wrong with it: it waits");
    }

    #[test]
    fn what_fails_with_a_claim_may_be_the_claims_fault() {
        let mut settles = some([1]);
        let batch = settles.take();
        settles.unstorable(batch, true, "too odd", Instant::now());
        assert!(!settles.may_claim());
        let batch = settles.take();
        assert!(matches!(batch[0].verdict, Verdict::Completed(_)));
        settles.recorded(1);
        assert!(settles.may_claim());
    }
}
