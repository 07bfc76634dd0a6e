//! What commands decide about tasks.

mod details;

use std::sync::Arc;
use std::time::Duration;

use pgflow_model::{FlowShape, OnSkip, Pattern, StepShape};
use serde_json::{Value, json};

use super::*;
use crate::{
    Cancel, Cancelled, Catalog, Effect, Entry, FlowVersion, Limits, NewRun, Payload, Refusal,
    Retried, RetryRun, RunId, RunStatus, Start, Started, TaskStatus, Timestamp, Version,
};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn run_id() -> RunId {
    RunId::from_key("flow", "test")
}

fn catalog(steps: Vec<StepShape>) -> Arc<Catalog> {
    let shape = FlowShape { steps, ..FlowShape::new("flow") };
    let version = FlowVersion { flow: "flow".into(), version: 1, slug: "flow".into(), shape };
    Arc::new(Catalog::new([Version::new(1, version, None).expect("a flow")]))
}

/// A task that was written, with its error and why it was yielded.
type Written = (TaskRef, TaskRow, Option<String>, Option<String>);

/// A store in its simplest form: rows of one run, with everything that was ever put out.
struct Bench {
    rows: Rows,
    log: Vec<Entry>,
    effects: Vec<Effect>,
}

impl Bench {
    fn start(steps: Vec<StepShape>, input: Value) -> Self {
        let mut bench = Self { rows: Rows::default(), log: Vec::new(), effects: Vec::new() };
        let runs = [NewRun::new("flow", input, run_id())];
        let runs = runs.iter().collect();
        let start = Start { runs, catalog: catalog(steps), limits: Limits::default() };
        assert_eq!(bench.decide(&start, NOW), [Ok(Started::Created)]);
        bench
    }

    fn decide<C: Command>(&mut self, command: &C, now: Timestamp) -> C::Answer {
        self.try_decide(command, now).expect("a decision").0
    }

    fn try_decide<C: Command>(
        &mut self,
        command: &C,
        now: Timestamp,
    ) -> Result<(C::Answer, Vec<Written>), Refusal> {
        for (run, step) in command.more(&self.rows).map_outputs {
            self.rows.map_outputs.entry((run, step)).or_default();
        }
        let (answer, writes) = command.decide(&mut self.rows, now)?;
        let mut tasks = Vec::new();
        for write in writes.tasks {
            self.rows.tasks.insert(write.at, write.row);
            if let Some(output) = write.output.filter(|_| write.row.status == TaskStatus::Completed)
            {
                let outputs = self.rows.map_outputs.entry((write.at.run, write.at.step));
                outputs.or_default().insert(write.at.index, output.clone());
            }
            tasks.push((write.at, write.row, write.error, write.yielded));
        }
        for (run, change) in writes.changes {
            for effect in &change.effects {
                self.spawn(run, effect, now);
            }
            self.effects.extend(change.effects);
            self.log.extend(change.log);
        }
        Ok((answer, tasks))
    }

    fn spawn(&mut self, run: RunId, effect: &Effect, now: Timestamp) {
        if let Effect::Spawn { step, tasks, delay, .. } = effect {
            for index in 0..*tasks {
                let row = TaskRow {
                    status: TaskStatus::Queued,
                    attempts: 0,
                    refunded: 0,
                    losses: 0,
                    ready_at: Some(ready_at(now, *delay, index)),
                    lost_after: None,
                };
                self.rows.tasks.insert(TaskRef { run, step: *step, index }, row);
            }
        }
    }

    fn key(&self, step: &str, index: u32) -> TaskKey {
        assert!(self.rows.runs[&run_id()].version.plan.index(step).is_some());
        TaskKey { run: run_id(), step: step.into(), index }
    }

    fn row(&self, step: &str, index: u32) -> TaskRow {
        self.rows.tasks[&self.rows.find(&self.key(step, index)).expect("a step")]
    }

    /// Takes a task, as a claim does.
    fn take(&mut self, step: &str, index: u32, now: Timestamp) -> TaskLease {
        let key = self.key(step, index);
        let at = self.rows.find(&key).expect("a step");
        let planned = self.rows.runs[&run_id()].version.plan.step(at.step).clone();
        let row = self.rows.tasks.get_mut(&at).expect("a task");
        row.status = TaskStatus::Started;
        row.attempts += 1;
        (row.ready_at, row.lost_after) = (None, Some(lost_after(now, None, &planned)));
        TaskLease { task: key, attempt: row.attempts }
    }

    fn settle(&mut self, settles: &[Settle]) -> Vec<Settled> {
        self.decide(&SettleBatch { settles, limits: Limits::default() }, NOW)
    }

    fn status(&self) -> RunStatus {
        self.rows.runs[&run_id()].state.status
    }
}

fn settle(lease: &TaskLease, verdict: Verdict) -> Settle {
    Settle { lease: lease.clone().into(), verdict }
}

fn done(lease: &TaskLease, output: Value) -> Settle {
    settle(lease, Verdict::Completed(output))
}

fn failed(lease: &TaskLease, retry: Retry) -> Settle {
    settle(lease, Verdict::Failed { error: "no".into(), retry })
}

fn step(slug: &str) -> StepShape {
    StepShape::new(slug)
}

fn later(seconds: u64) -> Timestamp {
    NOW + Duration::from_secs(seconds)
}

#[test]
fn a_task_that_is_named_twice_is_settled_in_two_rounds() {
    let mut bench = Bench::start(vec![step("a"), step("b").after("a")], json!(null));
    let lease = bench.take("a", 0, NOW);
    let both = [settle(&lease, Verdict::Released), done(&lease, json!(1))];
    // The first round releases it, so that the second finds it queued.
    assert_eq!(bench.settle(&both), [Settled::Applied, Settled::Fenced]);
    let again = bench.take("a", 0, NOW);
    let both = [done(&again, json!(1)), failed(&again, Retry::Never)];
    assert_eq!(bench.settle(&both), [Settled::Applied, Settled::AlreadySettled]);
    assert_eq!(bench.status(), RunStatus::Started);
    assert_eq!(bench.row("b", 0).status, TaskStatus::Queued);
}

#[test]
fn what_is_released_does_not_count_and_what_fails_does() {
    let mut bench = Bench::start(vec![step("a")], json!(null));
    let lease = bench.take("a", 0, NOW);
    assert_eq!(bench.settle(&[settle(&lease, Verdict::Released)]), [Settled::Applied]);
    assert_eq!((bench.row("a", 0).attempts, bench.row("a", 0).counted()), (1, 0));
    assert_eq!(bench.row("a", 0).ready_at, Some(NOW));
    let lease = bench.take("a", 0, NOW);
    assert_eq!(bench.settle(&[failed(&lease, Retry::ByPolicy)]), [Settled::Applied]);
    assert_eq!((bench.row("a", 0).counted(), bench.row("a", 0).ready_at), (1, Some(later(10))));
    let lease = bench.take("a", 0, NOW);
    let yielded =
        Verdict::Yielded { until: Until::After(Duration::from_secs(7)), reason: "no\0key".into() };
    let batch = [settle(&lease, yielded)];
    let command = SettleBatch { settles: &batch, limits: Limits::default() };
    let (_, writes) = bench.try_decide(&command, NOW).expect("a decision");
    assert_eq!((writes[0].2.as_deref(), writes[0].3.as_deref()), (None, Some("no\u{fffd}key")));
    assert_eq!((bench.row("a", 0).counted(), bench.row("a", 0).ready_at), (1, Some(later(7))));
}

#[test]
fn a_condition_sees_what_all_tasks_of_a_map_put_out() {
    let only_if = Pattern::try_from(json!({ "each": [1, 2] })).expect("a pattern");
    let last = StepShape { only_if: Some(only_if), ..step("last").after("each") };
    let mut bench = Bench::start(vec![step("each").map(), last], json!([0, 0]));
    let [first, second] = [0, 1].map(|index| bench.take("each", index, NOW));
    let command = [done(&first, json!(1))];
    let batch = SettleBatch { settles: &command, limits: Limits::default() };
    assert_eq!(batch.more(&bench.rows), Needs::default(), "it is not the last one");
    assert_eq!(bench.settle(&command), [Settled::Applied]);
    let command = [done(&second, json!(2))];
    let batch = SettleBatch { settles: &command, limits: Limits::default() };
    assert_eq!(batch.more(&bench.rows).map_outputs, [(run_id(), 0)]);
    assert_eq!(bench.settle(&command), [Settled::Applied]);
    assert!(bench.log.contains(&Entry::StepStarted { step: 1, tasks: 1 }), "{:?}", bench.log);
}

#[test]
fn a_step_that_may_be_exhausted_asks_for_what_conditions_look_at() {
    let pattern = Pattern::try_from(json!({ "a": 1 })).expect("a pattern");
    let c = StepShape { only_if: Some(pattern), ..step("c").after("a").after("b") };
    let b = StepShape { when_exhausted: OnSkip::Skip, ..step("b") };
    let mut bench = Bench::start(vec![step("a"), b, c], json!(null));
    let (a, b) = (bench.take("a", 0, NOW), bench.take("b", 0, NOW));
    assert_eq!(bench.settle(&[done(&a, json!(1))]), [Settled::Applied]);
    // As a store loads it: the output stays in the database.
    let state = &mut bench.rows.runs.get_mut(&run_id()).expect("the run").state;
    state.steps[0].output = crate::Output::Stored;
    let batch = [failed(&b, Retry::Never)];
    let command = SettleBatch { settles: &batch, limits: Limits::default() };
    let wanted = (run_id(), Payload::StepOutput(0));
    assert_eq!(command.more(&bench.rows).payloads, [wanted]);
    let retried = [failed(&b, Retry::ByPolicy)];
    let retried = SettleBatch { settles: &retried, limits: Limits::default() };
    assert!(retried.more(&bench.rows).is_empty(), "it has attempts left");
    bench.rows.put(run_id(), Payload::StepOutput(0), json!(1));
    assert_eq!(bench.settle(&batch), [Settled::Applied]);
    assert!(bench.log.contains(&Entry::StepStarted { step: 2, tasks: 1 }), "{:?}", bench.log);
}

#[test]
fn a_map_that_would_be_too_wide_refuses_the_batch() {
    let mut bench = Bench::start(vec![step("list"), step("each").map().after("list")], json!(0));
    let lease = bench.take("list", 0, NOW);
    let limits = Limits { max_fanout: 2, ..Limits::default() };
    let batch = [done(&lease, json!([1, 2, 3]))];
    let refused = bench.try_decide(&SettleBatch { settles: &batch, limits }, NOW);
    let text = refused.map(|_| ()).unwrap_err().to_string();
    let expected =
        "cannot store the output of step list: it has 3 elements to map over, and the limit is 2";
    assert_eq!(text, expected);
    assert_eq!(bench.row("list", 0).status, TaskStatus::Started, "nothing has happened");
}

#[test]
fn a_lost_task_is_queued_three_times_and_then_ends_its_step() {
    let mut bench = Bench::start(vec![step("a"), step("b")], json!(null));
    for losses in 1..=MAX_REQUEUES {
        let lease = bench.take("a", 0, NOW);
        let sweep = Sweep { lost: vec![lease.task.clone(), lease.task] };
        assert_eq!(bench.decide(&sweep, later(62)), 0, "it has until then");
        assert_eq!(bench.decide(&sweep, later(63)), 1);
        assert_eq!(
            (bench.row("a", 0).losses, bench.row("a", 0).ready_at),
            (losses, Some(later(63)))
        );
    }
    let (lease, other) = (bench.take("a", 0, NOW), bench.take("b", 0, NOW));
    let sweep = Sweep { lost: vec![lease.task, other.task] };
    assert_eq!(bench.decide(&sweep, later(63)), 0, "the run has failed, so nothing is queued");
    assert_eq!(bench.status(), RunStatus::Failed);
    assert_eq!(bench.row("a", 0).status, TaskStatus::Started, "it stays as it was");

    assert_eq!(bench.decide(&RetryRun { run: run_id() }, later(63)), Retried::Retried);
    let (a, b) = (bench.row("a", 0), bench.row("b", 0));
    assert_eq!((a.losses, a.counted(), a.status), (0, 0, TaskStatus::Queued), "a fresh budget");
    assert_eq!((b.refunded, b.attempts), (1, 1), "its attempt was given back");
    let open = Effect::Requeue { steps: vec![0, 1] };
    assert!(bench.effects.contains(&open), "{:?}", bench.effects);
}

#[test]
fn a_heartbeat_never_makes_a_lease_shorter() {
    let mut bench = Bench::start(vec![step("a")], json!(null));
    let lease = bench.take("a", 0, later(100));
    let leases = [lease.clone(), lease.clone()].map(Lease::from);
    assert_eq!(bench.decide(&Heartbeat { leases: &leases }, NOW), [Beat::Extended; 2]);
    assert_eq!(bench.row("a", 0).lost_after, Some(later(162)));
    let command = Heartbeat { leases: &leases };
    let (_, writes) = bench.try_decide(&command, later(150)).expect("an answer");
    assert_eq!(writes.len(), 1, "a lease that is named twice is written once");
    assert_eq!(bench.row("a", 0).lost_after, Some(later(150 + 60 + 4)));
    let stranger = TaskLease { attempt: 7, ..lease.clone() };
    assert_eq!(bench.decide(&Heartbeat { leases: &[stranger.into()] }, NOW), [Beat::Lost]);
    let cancel = Cancel { run: run_id(), reason: Some("enough") };
    assert_eq!(bench.decide(&cancel, NOW), Cancelled::Cancelled);
    assert_eq!(bench.decide(&cancel, NOW), Cancelled::Ended(RunStatus::Cancelled));
    assert_eq!(bench.decide(&Heartbeat { leases: &leases[..1] }, NOW), [Beat::Cancelled]);
    assert_eq!(bench.decide(&Holds { leases: &[lease.into()] }, NOW), [false]);
}

#[test]
fn a_map_that_puts_out_too_much_ends_like_one_out_of_attempts() {
    let mut bench = Bench::start(vec![step("m").map(), step("z").after("m")], json!([1, 2]));
    let [first, second] = [0, 1].map(|index| bench.take("m", index, NOW));
    assert_eq!(bench.settle(&[done(&first, json!(1))]), [Settled::Applied]);
    let batch = [done(&second, json!(2))];
    let command = SettleBatch { settles: &batch, limits: Limits::default() };
    assert_eq!(command.more(&bench.rows).weights, [(run_id(), 0)]);
    bench.rows.weights.insert((run_id(), 0), crate::OUTPUT_BYTES);
    assert_eq!(bench.settle(&batch), [Settled::Applied]);
    assert_eq!(bench.status(), RunStatus::Failed);
    assert_eq!(bench.row("m", 1).status, TaskStatus::Completed, "its tasks stay completed");
}

#[test]
fn a_start_says_of_each_run_what_became_of_it() {
    let mut bench = Bench::start(vec![step("each").map()], json!([]));
    let other = RunId::from_key("flow", "other");
    let runs = [
        NewRun::new("flow", json!(1), other),
        NewRun::new("nothing", json!(1), other),
        NewRun::new("flow", json!([1]), other),
        NewRun::new("flow", json!([1]), other),
        NewRun::new("elsewhere", json!([1]), run_id()),
    ];
    let catalog = catalog(vec![step("each").map()]);
    let start = Start { runs: runs.iter().collect(), catalog, limits: Limits::default() };
    let answers = bench.decide(&start, NOW);
    let not_an_array = Refusal::NotAnArray { flow: "flow".into(), found: "number" };
    let unknown = Refusal::UnknownFlow { flow: "nothing".into() };
    let of_another = Refusal::OtherFlow { run: run_id(), flow: "flow".into() };
    let expected = [
        Err(not_an_array),
        Err(unknown),
        Ok(Started::Created),
        Ok(Started::Existing),
        Err(of_another),
    ];
    assert_eq!(answers, expected);
}

#[test]
fn a_claim_has_a_lane_for_each_step_that_it_has_room_for() {
    let catalog = catalog(vec![step("a"), step("b"), step("c")]);
    let quota = |step: &str, max| Quota { step: step.into(), max };
    let mut claim = Claim::of_queues(["flow", "unknown", "flow"], 10, crate::WorkerId::new());
    claim.wants[0].quotas = vec![quota("a", 0), quota("b", 3), quota("b", 2)];
    let lanes: Vec<_> = claim.lanes(&catalog).iter().map(|lane| (lane.step, lane.max)).collect();
    assert_eq!(lanes, [(1, 2), (2, 10)]);
}
