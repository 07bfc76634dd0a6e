//! Makes commands up that are about what is there.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::job::Moment;
use pgflow_machine::wait::{Awaited, NewChild, NewWait};
use pgflow_machine::{Retry, RunStatus, Settled, Until, Verdict};
use serde_json::json;

use super::command::{Ask, Attempt, Command, RUNS, TOKENS, To, WORKERS};
use super::draw::{self, Flows};
use super::play::{CHILD, token};
use super::random::Random;
use super::reply::{Reply, Task};

pub(super) struct Generator<'f> {
    flows: &'f Flows,
    random: Random,
    started: usize,
    advances: usize,
    /// Claimed, and as far as we know not settled.
    open: Vec<Attempt>,
    /// Who has claimed what.
    held: BTreeMap<Attempt, usize>,
    /// All that ever was claimed.
    past: Vec<Attempt>,
    failed: Vec<usize>,
    children: u64,
}

impl<'f> Generator<'f> {
    pub(super) fn new(flows: &'f Flows, random: Random) -> Self {
        let (open, past, failed) = (Vec::new(), Vec::new(), Vec::new());
        let held = BTreeMap::new();
        Self { flows, random, started: 0, advances: 0, open, held, past, failed, children: 0 }
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
            8..28 => Command::Claim(self.ask_for_portions()),
            28..54 => self.settle(),
            54..57 => self.end_children(),
            57..60 => self.transaction(),
            60..64 => self.stale(),
            64..66 => self.release_unknown(),
            66..73 => Command::Heartbeat(self.any_attempts()),
            73..81 => self.advance(),
            81..85 => self.signal(),
            85..88 => Command::Sweep,
            88..91 => Command::SweepAndClaim(self.ask()),
            91..93 => Command::Cancel { run: self.random.below(RUNS) },
            93..97 => self.retry(),
            _ => Command::Look,
        }
    }

    /// Rounds that let most runs come to an end: time goes by, and all that can be had is completed.
    pub(super) fn ending(&mut self) -> [Command; 5] {
        let mut attempts = std::mem::take(&mut self.open);
        newest_per_task(&mut attempts);
        let items = attempts.into_iter().map(|attempt| {
            let output = self.output(&attempt);
            (attempt, Verdict::Completed(output))
        });
        let items = items.collect();
        self.advances += 1;
        let claim = Some(Ask::all());
        let [even, odd] = [false, true].map(|odd| {
            let verdict = Some(Verdict::Completed(json!(self.children)));
            Command::Children { odd, verdict }
        });
        let settle = Command::Settle { items, claim };
        [settle, even, odd, Command::Advance(100_007), Command::Claim(Ask::all())]
    }

    pub(super) fn learn(&mut self, command: &Command, reply: &Reply) {
        match (command, reply) {
            (
                Command::Claim(ask) | Command::SweepAndClaim(ask),
                Reply::Claimed(tasks) | Reply::SweptAndClaimed(_, tasks),
            ) => self.claimed(ask.worker, tasks),
            (Command::Commit { attempt, .. }, Reply::Committed(Some(Settled::Applied))) => {
                self.open.retain(|open| open != attempt);
            }
            (Command::Settle { items, claim }, Reply::Settled(outcomes, tasks)) => {
                let settled: Vec<_> = items
                    .iter()
                    .zip(outcomes)
                    .filter(|(_, outcome)| **outcome == Settled::Applied)
                    .collect();
                self.open.retain(|open| !settled.iter().any(|((attempt, _), _)| attempt == open));
                self.claimed(claim.as_ref().map_or(0, |ask| ask.worker), tasks);
            }
            (Command::ReleaseUnknown { worker, known }, _) => {
                let held = &self.held;
                self.open.retain(|open| held.get(open) != Some(worker) || known.contains(open));
            }
            (_, Reply::Seen(runs, _)) => {
                let has_failed = |run: &usize| {
                    runs[*run].as_ref().is_some_and(|r| r.status() == RunStatus::Failed)
                };
                self.failed = (0..RUNS).filter(has_failed).collect();
            }
            _ => {}
        }
    }

    fn claimed(&mut self, worker: usize, tasks: &[Task]) {
        self.held.extend(tasks.iter().map(|task| (task.attempt.clone(), worker)));
        self.open.extend(tasks.iter().map(|task| task.attempt.clone()));
        self.past.extend(tasks.iter().map(|task| task.attempt.clone()));
    }

    fn start(&mut self) -> Command {
        // Now and then one that exists already.
        let run = if self.started < RUNS { self.started } else { self.random.below(RUNS) };
        self.started = (self.started + 1).min(RUNS);
        Command::Start { run, input: draw::input(&mut self.random, &self.flows[run]) }
    }

    /// A worker, with all versions or some, and all steps or all but one.
    fn ask(&mut self) -> Ask {
        let worker = self.random.below(WORKERS);
        let all: Vec<_> = (0..RUNS).collect();
        let queues = if self.random.chance(75) { all } else { self.random.some(&all) };
        let without = self.random.chance(15).then(|| {
            let flow = &self.flows[*self.random.pick(&queues)];
            self.random.pick(&flow.steps).slug.clone()
        });
        Ask { worker, queues, without, portion: None }
    }

    fn ask_for_portions(&mut self) -> Ask {
        let portion = self.random.chance(25).then(|| if self.random.chance(50) { 1 } else { 3 });
        Ask { portion, ..self.ask() }
    }

    fn output(&mut self, attempt: &Attempt) -> serde_json::Value {
        draw::output(&mut self.random, &self.flows[attempt.run], &attempt.step)
    }

    /// A transaction, with an attempt that holds or with any.
    fn transaction(&mut self) -> Command {
        let attempt = if self.open.is_empty() || self.random.chance(20) {
            self.any_attempts().swap_remove(0)
        } else {
            self.random.pick(&self.open).clone()
        };
        if self.random.chance(20) {
            return Command::Drop(attempt);
        }
        let output = self.output(&attempt);
        // In a transaction Postgres says that it cannot store this, and not why.
        if output.as_array().is_some_and(|elements| elements.len() > 100) {
            return Command::Drop(attempt);
        }
        Command::Commit { attempt, output }
    }

    fn settle(&mut self) -> Command {
        if self.open.is_empty() {
            return Command::Claim(self.ask());
        }
        let mut attempts = self.random.some(&self.open);
        newest_per_task(&mut attempts);
        let items = attempts.into_iter().map(|attempt| self.item(attempt)).collect();
        let claim = self.random.chance(40).then(|| self.ask());
        Command::Settle { items, claim }
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
        Command::Settle { items, claim: None }
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
        Command::ReleaseUnknown { worker: self.random.below(WORKERS), known }
    }

    fn item(&mut self, attempt: Attempt) -> (Attempt, Verdict) {
        let error = draw::error(&mut self.random);
        let reason = || "boom".to_owned();
        let failed = |retry| Verdict::Failed { error: error.clone(), retry };
        let verdict = match self.random.below(100) {
            0..52 => Verdict::Completed(self.output(&attempt)),
            52..60 => self.wait(),
            60..80 => failed(Retry::ByPolicy),
            80..85 => failed(Retry::Never),
            85..88 => failed(Retry::After(Duration::ZERO)),
            88..92 => failed(Retry::After(Duration::from_millis(999_001))),
            92..94 => Verdict::Yielded { until: Until::After(Duration::ZERO), reason: reason() },
            94..96 => Verdict::Yielded {
                until: Until::After(Duration::from_millis(999_001)),
                reason: reason(),
            },
            _ => Verdict::Released,
        };
        (attempt, verdict)
    }

    /// Children that nobody waits for any more are among them.
    fn end_children(&mut self) -> Command {
        let failed = |retry| Verdict::Failed { error: "boom".to_owned(), retry };
        let verdict = match self.random.below(10) {
            0..5 => Some(Verdict::Completed(json!(self.random.below(3)))),
            5..7 => Some(failed(Retry::Never)),
            7..9 => Some(failed(Retry::ByPolicy)),
            _ => None,
        };
        Command::Children { odd: self.random.chance(50), verdict }
    }

    /// Has one task, unless it ends at once.
    fn child(&mut self) -> NewChild {
        self.children += 1;
        let input = if self.random.chance(20) { json!([]) } else { json!([self.children]) };
        NewChild { flow: CHILD.into(), compiled_for: None, input }
    }

    /// For a signal, a moment, or children; some of them not for ever.
    fn wait(&mut self) -> Verdict {
        let seconds = Duration::from_secs;
        let mut wait = NewWait::on(match self.random.below(10) {
            0..4 => Awaited::Hook(token(self.random.below(TOKENS))),
            4 => Awaited::Sleep(Moment::In(Duration::ZERO)),
            5 => Awaited::Sleep(Moment::In(seconds(2_000))),
            6..9 => Awaited::Runs { children: vec![self.child()], each: false },
            _ => Awaited::Runs { children: vec![self.child(), self.child()], each: true },
        });
        wait.timeout = self.random.chance(60).then(|| seconds(*self.random.pick(&[1_000, 4_000])));
        wait.schema = self.random.chance(30).then(|| json!({ "type": ["integer", "array"] }));
        wait.outcomes = self.random.chance(20);
        wait.detached = self.random.chance(20);
        Verdict::Yielded { until: Until::Met(Box::new(wait)), reason: String::new() }
    }

    /// To something that may wait, or not, or no more.
    fn signal(&mut self) -> Command {
        let attempt = self.any_attempts().swap_remove(0);
        let payload = self.output(&attempt);
        let to = if self.random.chance(60) {
            To::Task(attempt)
        } else {
            To::Token(self.random.below(TOKENS))
        };
        let resume_id = self.random.chance(50).then(|| self.random.below(3));
        Command::Signal { to, resume_id, payload }
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
        let run = self.random.below(RUNS);
        let step = self.random.pick(&self.flows[run].steps).slug.clone();
        let index = u32::from(self.random.chance(30));
        Attempt { run, step, index, number: 1 }
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

impl Ask {
    /// All that the first worker can have.
    fn all() -> Self {
        Self { worker: 0, queues: (0..RUNS).collect(), without: None, portion: None }
    }
}

fn newest_per_task(attempts: &mut Vec<Attempt>) {
    attempts.sort();
    attempts.reverse();
    attempts.dedup_by(|a, b| (a.run, &a.step, a.index) == (b.run, &b.step, b.index));
}
