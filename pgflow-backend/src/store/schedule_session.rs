//! Schedules of a store: rows in, rows out.

use std::future::Future;

use pgflow_machine::schedule::Schedule;

use super::Stored;
use crate::backend::{DueQuery, DueSchedules, ScheduleQuery};

/// The part of a transaction that is about schedules. It decides nothing.
pub trait ScheduleSession: Send {
    /// A schedule, if it is there. A store that locks rows locks it; of two transitions that make the same new one, the later one has to
    /// be done again.
    fn load_schedule(
        &mut self,
        name: &str,
    ) -> impl Future<Output = Stored<Option<Schedule>>> + Send;

    /// Writes a schedule, which may be new.
    fn write_schedule(
        &mut self,
        schedule: &Schedule,
        is_new: bool,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Deletes a schedule.
    fn delete_schedule(&mut self, name: &str) -> impl Future<Output = Stored<()>> + Send;

    /// Schedules, by name.
    fn list_schedules(
        &mut self,
        query: &ScheduleQuery,
    ) -> impl Future<Output = Stored<Vec<Schedule>>> + Send;

    /// Schedules that are due by now, and when others are.
    fn due_schedules(
        &mut self,
        query: &DueQuery,
    ) -> impl Future<Output = Stored<DueSchedules>> + Send;
}
