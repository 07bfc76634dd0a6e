//! What checks of schedules are written with.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::schedule::{
    Fire, Fired, Given, Next, Put, Schedule, ScheduleProblem, ScheduleSpec, Tick,
};
use pgflow_machine::{RunId, Timestamp};
use pgflow_runtime::backend::{
    Backend, DueQuery, DueSchedules, NewSchedule, ScheduleQuery, Schedules,
};

use super::{Cx, single};

/// A schedule of a check, and the flow that it starts.
#[derive(Clone)]
pub(crate) struct ScheduleKit {
    pub(crate) cx: Arc<Cx>,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) name: String,
    pub(crate) flow: String,
}

impl ScheduleKit {
    pub(crate) async fn new(cx: &Arc<Cx>) -> Self {
        let flow = cx.flow([single("a")]).await;
        Self { cx: Arc::clone(cx), backend: cx.backend(), name: cx.name(), flow }
    }

    pub(crate) fn schedules(&self) -> &dyn Schedules {
        self.backend.schedules().expect("every backend has schedules")
    }

    pub(crate) fn spec(&self) -> ScheduleSpec {
        ScheduleSpec::new(&self.flow, "* * * * *")
    }

    pub(crate) async fn put(&self, spec: ScheduleSpec) -> Result<Put, ScheduleProblem> {
        let new = NewSchedule::new(&self.name, spec);
        self.schedules().put_schedule(&new).await.expect("a schedule can be made")
    }

    pub(crate) async fn find(&self) -> Option<Schedule> {
        let query = ScheduleQuery { name: Some(self.name.clone()), ..ScheduleQuery::default() };
        self.schedules().list_schedules(&query).await.expect("schedules can be listed").pop()
    }

    pub(crate) async fn get(&self) -> Schedule {
        self.find().await.expect("the schedule is there")
    }

    pub(crate) async fn due(&self) -> DueSchedules {
        let query = DueQuery { flows: vec![self.flow.clone()], max: 1_000 };
        self.schedules().due_schedules(&query).await.expect("due schedules can be found")
    }

    /// Whether a worker that serves the flow gets it.
    pub(crate) async fn is_due(&self) -> bool {
        self.due().await.schedules.iter().any(|schedule| schedule.name == self.name)
    }

    pub(crate) async fn now(&self) -> Timestamp {
        self.due().await.now
    }

    /// Says that these moments have come, and that the next one is in an hour. Runs that started are looked at in the end.
    pub(crate) async fn fire(&self, revision: u64, due: &[Timestamp]) -> Fired {
        let next = Next::At(self.now().await + Duration::from_hours(1));
        let fire = Fire { name: &self.name, revision, due, next: &next, input: Given::Stored };
        let fired = self.schedules().fire_schedule(&fire).await.expect("it can be fired");
        if let Fired::Fired { started, .. } = &fired {
            for run in started {
                self.cx.remember(*run);
            }
        }
        fired
    }

    /// As it is now.
    pub(crate) async fn fire_now(&self, due: &[Timestamp]) -> Fired {
        self.fire(self.get().await.revision, due).await
    }

    pub(crate) fn run(&self, at: Timestamp) -> RunId {
        Tick::new(&self.name, at).run
    }

    /// Lets time go by: where it does not by itself, it is told to.
    pub(crate) async fn wait(&self) {
        if !self.backend.abilities().multi_process {
            self.cx.database().advance(&self.flow, Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// So many moments, a microsecond from each other, that have come since the schedule was made.
    pub(crate) async fn moments(&self, many: i64) -> Vec<Timestamp> {
        let after = self.get().await.after.micros();
        while self.now().await.micros() < after + many {
            self.wait().await;
        }
        (1..=many).map(|n| Timestamp::from_micros(after + n)).collect()
    }
}

/// How often it was changed since it was made.
pub(crate) fn changes(schedule: &Schedule) -> u64 {
    schedule.revision - schedule.created_at.micros().max(1).unsigned_abs()
}

pub(crate) fn fired(started: impl IntoIterator<Item = RunId>, skipped: u32) -> Fired {
    Fired::Fired { started: started.into_iter().collect(), skipped }
}
