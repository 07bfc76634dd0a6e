//! Schedules, from the outside: made, paused, looked at, removed.

mod create;

use std::sync::Arc;

use pgflow_machine::schedule::{Paused, Put, Schedule};
use pgflow_machine::{RunId, Timestamp};

pub use create::{CreateSchedule, Unscheduled};

use super::ClientError;
use super::check::input_of;
use super::patience::patiently;
use crate::backend::{Backend, BackendError, DueQuery, NewRun, NewSchedule, Reply, ScheduleQuery};
use crate::db::Db;
use crate::schedule::{Ticker, upcoming};

/// Moments that are found out at a time: one of every second has more than memory holds.
const MOST_MOMENTS: usize = 1_000;

impl Db {
    /// The schedule of this name, which need not be there yet.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod report { #[step] pub async fn write(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// # db.register(report::Flow).await?;
    /// let nightly = db.schedule("nightly");
    /// nightly.flow(report::Flow, &7).cron("0 3 * * *").timezone("Europe/Berlin").await?;
    /// assert_eq!(nightly.next(3).await?.len(), 3);
    /// nightly.pause().await?;
    /// assert!(db.schedules().await?[0].paused_at.is_some());
    /// nightly.remove().await?;
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn schedule(&self, name: &str) -> ScheduleHandle {
        ScheduleHandle { db: self.clone(), name: name.to_owned() }
    }

    /// All schedules, by name.
    pub async fn schedules(&self) -> Result<Vec<Schedule>, ClientError> {
        let mut all: Vec<Schedule> = Vec::new();
        loop {
            let after = all.last().map(|schedule| schedule.name.clone());
            let query = ScheduleQuery { after, ..ScheduleQuery::default() };
            let max = query.max as usize;
            let page = patiently(self, move |backend| list(backend, query.clone())).await?;
            let is_last = page.len() < max;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Makes or changes a schedule, and finds out when it is due.
    pub(crate) async fn put_schedule(&self, new: NewSchedule) -> Result<Put, ClientError> {
        let name = new.name.clone();
        let put = patiently(self, move |backend| put(backend, new.clone())).await?;
        let put = put.map_err(|source| ClientError::Schedule { name: name.clone(), source })?;
        if put != Put::Unchanged {
            self.find_out(&name).await?;
        }
        Ok(put)
    }

    /// Finds out when a schedule is due, so that nobody has to wait for a worker that does.
    async fn find_out(&self, name: &str) -> Result<(), ClientError> {
        let Some(schedule) = self.find_schedule(name).await? else { return Ok(()) };
        let now = self.database_time().await?;
        if schedule.next_at.is_none() && schedule.is_due(now) {
            let ticker = Ticker::of(Arc::clone(self.declared()));
            ticker.advance(&**self.backend(), &schedule, now).await?;
        }
        Ok(())
    }

    pub(crate) async fn find_schedule(&self, name: &str) -> Result<Option<Schedule>, ClientError> {
        let query = ScheduleQuery { name: Some(name.to_owned()), ..ScheduleQuery::default() };
        Ok(patiently(self, move |backend| list(backend, query.clone())).await?.pop())
    }

    async fn database_time(&self) -> Result<Timestamp, ClientError> {
        Ok(patiently(self, time).await?)
    }
}

fn put(
    backend: &dyn Backend,
    new: NewSchedule,
) -> Reply<'_, Result<Put, pgflow_machine::schedule::ScheduleProblem>> {
    Box::pin(async move { backend.schedules()?.put_schedule(&new).await })
}

fn list(backend: &dyn Backend, query: ScheduleQuery) -> Reply<'_, Vec<Schedule>> {
    Box::pin(async move { backend.schedules()?.list_schedules(&query).await })
}

fn time(backend: &dyn Backend) -> Reply<'_, Timestamp> {
    Box::pin(async move { Ok(backend.schedules()?.due_schedules(&DueQuery::default()).await?.now) })
}

fn pause(backend: &dyn Backend, name: String, pause: bool) -> Reply<'_, Paused> {
    Box::pin(async move { backend.schedules()?.pause_schedule(&name, pause).await })
}

fn remove(backend: &dyn Backend, name: String) -> Reply<'_, bool> {
    Box::pin(async move { backend.schedules()?.remove_schedule(&name, None).await })
}

/// A schedule, by its name: [`Db::schedule`].
#[derive(Clone, Debug)]
pub struct ScheduleHandle {
    db: Db,
    name: String,
}

impl ScheduleHandle {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As the database has it.
    pub async fn get(&self) -> Result<Schedule, ClientError> {
        self.db.find_schedule(&self.name).await?.ok_or_else(|| self.unknown())
    }

    /// Keeps it from starting runs, until it is resumed, even if it is replaced meanwhile. Whether it was not paused before.
    pub async fn pause(&self) -> Result<bool, ClientError> {
        self.set_paused(true).await
    }

    /// Lets it start runs again, from its next moment on: those that came meanwhile are not made up for. Whether it was paused.
    pub async fn resume(&self) -> Result<bool, ClientError> {
        let resumed = self.set_paused(false).await?;
        self.db.find_out(&self.name).await?;
        Ok(resumed)
    }

    /// Removes it, and says whether it was there. Runs that it started go on. One that a flow declares comes back when a worker starts.
    pub async fn remove(&self) -> Result<bool, ClientError> {
        let name = self.name.clone();
        Ok(patiently(&self.db, move |backend| remove(backend, name.clone())).await?)
    }

    /// Its next moments, at most so many, and at most 1000. One that is paused has them too, as if it were resumed now.
    pub async fn next(&self, many: usize) -> Result<Vec<Timestamp>, ClientError> {
        let schedule = self.readable().await?;
        // One that begins later has none before.
        let now = self.db.database_time().await?.max(schedule.after);
        let is_paused = schedule.paused_at.is_some();
        let first = schedule.next_at.filter(|_| !is_paused);
        Ok(upcoming(&schedule.spec, first, now, many.min(MOST_MOMENTS))?)
    }

    /// Starts a run of it now, whatever its moments are, and also if it is paused.
    ///
    /// Where the source of its flow declares it, `schedule_input` is evaluated now if this program has the flow: a worker for it was
    /// started, or it was registered, with this [`Db`] or a clone of it. Otherwise the run gets what was evaluated
    /// when a worker started last, which is the input that [`get`](Self::get) shows.
    pub async fn fire(&self) -> Result<RunId, ClientError> {
        let schedule = self.readable().await?;
        let maker = self.db.declared().maker(&schedule);
        let mut spec = schedule.spec;
        if let Some((flow, make)) = maker {
            spec.input = input_of(flow, make(), &self.db.limits().await?)?;
        }
        let run = NewRun::new(spec.flow, spec.input, RunId::new());
        let run = NewRun { compiled_for: spec.compiled_for, ..run };
        let id = run.id;
        patiently(&self.db, move |backend| backend.start(run.clone())).await?;
        Ok(id)
    }

    async fn readable(&self) -> Result<Schedule, ClientError> {
        let schedule = self.get().await?;
        schedule.unreadable().map_or(Ok(schedule), |why| Err(BackendError::Schema(why).into()))
    }

    async fn set_paused(&self, paused: bool) -> Result<bool, ClientError> {
        let name = self.name.clone();
        match patiently(&self.db, move |backend| pause(backend, name.clone(), paused)).await? {
            Paused::Now => Ok(true),
            Paused::Before => Ok(false),
            Paused::Unknown => Err(self.unknown()),
        }
    }

    fn unknown(&self) -> ClientError {
        ClientError::UnknownSchedule { name: self.name.clone() }
    }
}
