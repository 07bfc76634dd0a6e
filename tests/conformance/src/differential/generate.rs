//! Makes commands up that are about what is there.

use std::time::Duration;

use pgflow_machine::{Retry, RunStatus, Settled, Until, Verdict};
use pgflow_model::FlowShape;

use super::command::{Attempt, Command, RUNS};
use super::draw;
use super::random::Random;
use super::reply::{Reply, Task};

pub(super) struct Generator<'f> {
    flow: &'f FlowShape,
    random: Random,
    started: usize,
    advances: usize,
    /// Claimed, and as far as we know not settled.
    open: Vec<Attempt>,
    /// All that ever was claimed.
    past: Vec<Attempt>,
    failed: Vec<usize>,
}

impl<'f> Generator<'f> {
    pub(super) fn new(flow: &'f FlowShape, random: Random) -> Self {
        let (open, past, failed) = (Vec::new(), Vec::new(), Vec::new());
        Self { flow, random, started: 0, advances: 0, open, past, failed }
    }

    pub(super) fn length(&mut self) -> usize {
        10 + self.random.below(35)
    }

    pub(super) fn next(&mut self) -> Command {
        if self.started == 0 {
            return self.start();
        }
        match self.random.below(100) {
            0..8 => self.start(),
            8..28 => self.claim(),
            28..60 => self.settle(),
            60..64 => self.stale(),
            64..66 => self.release_unknown(),
            66..73 => Command::Heartbeat(self.any_attempts()),
            73..83 => self.advance(),
            83..88 => Command::Sweep,
            88..91 => Command::SweepAndClaim,
            91..93 => Command::Cancel { run: self.random.below(RUNS) },
            93..97 => self.retry(),
            _ => Command::Look,
        }
    }

    /// Rounds that let most runs come to an end: time goes by, and all that can be had is completed.
    pub(super) fn ending(&mut self) -> [Command; 3] {
        let mut attempts = std::mem::take(&mut self.open);
        newest_per_task(&mut attempts);
        let items = attempts.into_iter().map(|attempt| {
            let output = draw::output(&mut self.random, self.flow, &attempt.step);
            (attempt, Verdict::Completed(output))
        });
        let items = items.collect();
        self.advances += 1;
        [
            Command::Settle { items, claim: true },
            Command::Advance(100_007),
            Command::Claim { without: None },
        ]
    }

    pub(super) fn learn(&mut self, command: &Command, reply: &Reply) {
        match (command, reply) {
            (_, Reply::Claimed(tasks) | Reply::SweptAndClaimed(_, tasks)) => self.claimed(tasks),
            (Command::Settle { items, .. }, Reply::Settled(outcomes, tasks)) => {
                let settled: Vec<_> = items
                    .iter()
                    .zip(outcomes)
                    .filter(|(_, outcome)| **outcome == Settled::Applied)
                    .collect();
                self.open.retain(|open| !settled.iter().any(|((attempt, _), _)| attempt == open));
                self.claimed(tasks);
            }
            (Command::ReleaseUnknown { known }, _) => self.open.retain(|open| known.contains(open)),
            (_, Reply::Seen(runs)) => {
                let has_failed = |run: &usize| {
                    runs[*run].as_ref().is_some_and(|r| r.status() == RunStatus::Failed)
                };
                self.failed = (0..RUNS).filter(has_failed).collect();
            }
            _ => {}
        }
    }

    fn claimed(&mut self, tasks: &[Task]) {
        self.open.extend(tasks.iter().map(|task| task.attempt.clone()));
        self.past.extend(tasks.iter().map(|task| task.attempt.clone()));
    }

    fn start(&mut self) -> Command {
        // Now and then one that exists already.
        let run = if self.started < RUNS { self.started } else { self.random.below(RUNS) };
        self.started = (self.started + 1).min(RUNS);
        Command::Start { run, input: draw::input(&mut self.random, self.flow) }
    }

    fn claim(&mut self) -> Command {
        let step = self.random.chance(15).then(|| self.random.pick(&self.flow.steps).slug.clone());
        Command::Claim { without: step }
    }

    fn settle(&mut self) -> Command {
        if self.open.is_empty() {
            return self.claim();
        }
        let mut attempts = self.random.some(&self.open);
        newest_per_task(&mut attempts);
        let items = attempts.into_iter().map(|attempt| self.item(attempt)).collect();
        Command::Settle { items, claim: self.random.chance(40) }
    }

    /// Of old attempts, of attempts to come, and of the same one twice. Two attempts of one task in a batch are a
    /// caller's mistake, for which backends need not agree on an answer.
    fn stale(&mut self) -> Command {
        let mut attempts = self.any_attempts();
        newest_per_task(&mut attempts);
        let mut items: Vec<_> = attempts.into_iter().map(|attempt| self.item(attempt)).collect();
        if self.random.chance(30) {
            items.extend(items.first().cloned());
        }
        Command::Settle { items, claim: false }
    }

    /// As after a claim whose answer got lost. Now and then what is known is of the past.
    fn release_unknown(&mut self) -> Command {
        let known = if self.random.chance(30) {
            self.any_attempts()
        } else if self.open.is_empty() {
            Vec::new()
        } else {
            self.random.some(&self.open)
        };
        Command::ReleaseUnknown { known }
    }

    fn item(&mut self, attempt: Attempt) -> (Attempt, Verdict) {
        let error = || "boom".to_owned();
        let failed = |retry| Verdict::Failed { error: error(), retry };
        let verdict = match self.random.below(100) {
            0..60 => Verdict::Completed(draw::output(&mut self.random, self.flow, &attempt.step)),
            60..80 => failed(Retry::ByPolicy),
            80..85 => failed(Retry::Never),
            85..88 => failed(Retry::After(Duration::ZERO)),
            88..92 => failed(Retry::After(Duration::from_millis(999_001))),
            92..94 => Verdict::Yielded { until: Until::After(Duration::ZERO), reason: error() },
            94..96 => Verdict::Yielded {
                until: Until::After(Duration::from_millis(999_001)),
                reason: error(),
            },
            _ => Verdict::Released,
        };
        (attempt, verdict)
    }

    fn any_attempts(&mut self) -> Vec<Attempt> {
        if self.past.is_empty() || self.random.chance(10) {
            return vec![self.imagined()];
        }
        let mut attempts = self.random.some(&self.past);
        attempts.truncate(4);
        if self.random.chance(20) {
            attempts[0].number += 1;
        }
        attempts
    }

    /// A task that may or may not be there.
    fn imagined(&mut self) -> Attempt {
        let step = self.random.pick(&self.flow.steps).slug.clone();
        let index = u32::from(self.random.chance(30));
        Attempt { run: self.random.below(RUNS), step, index, number: 1 }
    }

    fn advance(&mut self) -> Command {
        if self.advances + 10 > draw::ADVANCES {
            return Command::Sweep;
        }
        self.advances += 1;
        Command::Advance(draw::advance(&mut self.random))
    }

    fn retry(&mut self) -> Command {
        let any = [self.random.below(RUNS)];
        let from = if self.failed.is_empty() { &any[..] } else { &self.failed };
        Command::Retry { run: *self.random.pick(from) }
    }
}

fn newest_per_task(attempts: &mut Vec<Attempt>) {
    attempts.sort();
    attempts.reverse();
    attempts.dedup_by(|a, b| (a.run, &a.step, a.index) == (b.run, &b.step, b.index));
}
