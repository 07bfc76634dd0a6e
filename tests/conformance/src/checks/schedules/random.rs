//! Random commands, compared with memory, which does what `pgflow-machine` decides.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::schedule::{
    Fire, Fired, Given, Missed, Next, Origin, Overlap, Schedule, ScheduleSpec,
};
use pgflow_machine::{RunId, Timestamp, WorkerId};
use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Backend, Claim, FlowVersion, NewSchedule, ScheduleQuery};
use pgflow_runtime::memory::Memory;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::differential::{Random, seed_from_env};
use crate::kit::schedules::changes;
use crate::kit::{Cx, completed, options, single};

pub(crate) const CHECKS: &[Check] = &[check!(
    "SC41",
    "random commands lead to what they lead to in memory",
    same_as_memory,
    Schedules
)];

/// Both backends, whose clocks differ, and a schedule in them. Moments count from when it was made last.
struct Pair {
    both: [Arc<dyn Backend>; 2],
    flow: String,
    name: String,
}

async fn same_as_memory(cx: Arc<Cx>) {
    let seed = seed_from_env();
    for round in 0..cx.rounds(3, 60) as u64 {
        let mut random = Random::new(seed.wrapping_add(round));
        let pair = Pair::new(&cx).await;
        for step in 0..50 {
            let what = pair.play(&cx, &mut random).await;
            pair.compare(&format!("step {step}, {what}, PGFLOW_TEST_SEED={seed}")).await;
        }
    }
}

impl Pair {
    async fn new(cx: &Arc<Cx>) -> Self {
        let (flow, name) = (cx.name(), cx.name());
        let shape = FlowShape {
            options: options(3, 0, 1_000),
            steps: vec![single("a")],
            ..FlowShape::new(&flow)
        };
        let version = FlowVersion { flow: flow.clone(), version: 1, slug: flow.clone(), shape };
        // A memory whose clock goes by itself.
        let both = [cx.backend(), Arc::new(Memory::in_real_time()) as Arc<dyn Backend>];
        for backend in &both {
            backend.ensure_flow(&version).await.expect("a flow");
        }
        Self { both, flow, name }
    }

    async fn schedule(&self, at: usize) -> Option<Schedule> {
        let query = ScheduleQuery { name: Some(self.name.clone()), ..ScheduleQuery::default() };
        let schedules = self.both[at].schedules().expect("schedules");
        schedules.list_schedules(&query).await.expect("a list").pop()
    }

    /// Does the same to both, who say the same; returns what it was.
    async fn play(&self, cx: &Cx, random: &mut Random) -> String {
        match random.below(10) {
            0 => self.put(random).await,
            1 => self.pause(random.chance(50)).await,
            2 if random.chance(20) => self.remove(random).await,
            2 | 3 => self.work().await,
            _ => self.fire(cx, random).await,
        }
    }

    async fn put(&self, random: &mut Random) -> String {
        let spec = ScheduleSpec {
            input: json!(random.below(3)),
            missed: *random.pick(&[Missed::Last, Missed::All(2), Missed::All(9)]),
            overlap: *random.pick(&[Overlap::Allow, Overlap::Skip, Overlap::Queue]),
            origin: if random.chance(90) { Origin::Client } else { Origin::Source },
            ..ScheduleSpec::new(&self.flow, random.pick::<&str>(&["@daily", "@hourly"]))
        };
        let new = NewSchedule::new(&self.name, spec);
        let mut said = Vec::new();
        for backend in &self.both {
            let schedules = backend.schedules().expect("schedules");
            said.push(schedules.put_schedule(&new).await.expect("an outcome"));
        }
        assert_eq!(said[0], said[1], "{new:?}");
        format!("{new:?}")
    }

    async fn pause(&self, pause: bool) -> String {
        let mut said = Vec::new();
        for backend in &self.both {
            let schedules = backend.schedules().expect("schedules");
            said.push(schedules.pause_schedule(&self.name, pause).await.expect("an outcome"));
        }
        assert_eq!(said[0], said[1], "pause: {pause}");
        format!("pause: {pause}")
    }

    async fn remove(&self, random: &mut Random) -> String {
        let of = *random.pick(&[None, Some(Origin::Client), Some(Origin::Source)]);
        let mut said = Vec::new();
        for backend in &self.both {
            let schedules = backend.schedules().expect("schedules");
            said.push(schedules.remove_schedule(&self.name, of).await.expect("an outcome"));
        }
        assert_eq!(said[0], said[1], "remove of {of:?}");
        format!("remove of {of:?}")
    }

    /// Completes what runs there are.
    async fn work(&self) -> String {
        for backend in &self.both {
            let claim = Claim::of_queues([&*self.flow], 100, WorkerId::new());
            let claimed = backend.claim(&claim).await.expect("a claim");
            let settles: Vec<_> = claimed.tasks.iter().map(done_of).collect();
            if !settles.is_empty() {
                backend.settle(&settles, None).await.expect("a settle");
            }
        }
        "runs completed".to_owned()
    }

    async fn fire(&self, cx: &Cx, random: &mut Random) -> String {
        let first = i64::try_from(random.below(3)).unwrap_or(0);
        let many = i64::try_from(random.below(5)).unwrap_or(0);
        let is_late = random.chance(10);
        let (is_over, is_broken) = (random.chance(5), random.chance(5));
        let mut said = Vec::new();
        for (at, backend) in self.both.iter().enumerate() {
            let Some(schedule) = self.schedule(at).await else { return "nothing".to_owned() };
            let moment = |n| Timestamp::from_micros(schedule.after.micros() + n);
            let due: Vec<_> = (first..first + many).map(moment).collect();
            if !backend.abilities().multi_process && at == 0 {
                cx.database().advance(&self.flow, Duration::from_millis(1)).await;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
            let next = match (is_over, is_broken) {
                (true, _) => Next::Never,
                (_, true) => Next::Unknown("nonsense".to_owned()),
                _ => Next::At(schedule.after + Duration::from_hours(1)),
            };
            let revision = schedule.revision - u64::from(is_late);
            let fire =
                Fire { name: &self.name, revision, due: &due, next: &next, input: Given::Stored };
            let schedules = backend.schedules().expect("schedules");
            let fired = schedules.fire_schedule(&fire).await.expect("an outcome");
            if at == 0
                && let Fired::Fired { started, .. } = &fired
            {
                for run in started {
                    cx.remember(*run);
                }
            }
            said.push(count(&fired));
        }
        let what = format!("fire from {first} on {many} moments");
        assert_eq!(said[0], said[1], "{what}");
        what
    }

    async fn compare(&self, what: &str) {
        let [one, other] = [self.schedule(0).await, self.schedule(1).await].map(|it| it.map(seen));
        assert_eq!(one, other, "after {what}");
    }
}

fn done_of(task: &pgflow_runtime::backend::ClaimedTask) -> pgflow_machine::Settle {
    pgflow_machine::Settle { lease: task.lease.clone().into(), verdict: completed(1) }
}

/// Clocks differ, and so do the ids of runs.
fn count(fired: &Fired) -> Option<(usize, u32)> {
    match fired {
        Fired::Superseded => None,
        Fired::Fired { started, skipped } => Some((started.len(), *skipped)),
    }
}

/// What does not depend on the clock: moments count from the one that counts.
fn seen(schedule: Schedule) -> Schedule {
    let after = schedule.after.micros();
    let since = |moment: Timestamp| Timestamp::from_micros(moment.micros() - after);
    let nobody = RunId::from_key("", "");
    Schedule {
        paused_at: schedule.paused_at.map(|_| Timestamp::default()),
        next_at: schedule.next_at.map(|_| Timestamp::default()),
        queued: schedule
            .queued
            .iter()
            .map(|tick| pgflow_machine::schedule::Tick { at: since(tick.at), run: nobody })
            .collect(),
        last_at: schedule.last_at.map(|_| Timestamp::default()),
        last_run: schedule.last_run.map(|_| nobody),
        revision: changes(&schedule),
        after: Timestamp::default(),
        created_at: Timestamp::default(),
        ..schedule
    }
}
