//! The contract about schedules, kept by every store.

use std::sync::Arc;

use pgflow_machine::schedule::{
    self, Fire, Fired, Origin, PauseSchedule, Paused, Put, PutSchedule, RemoveSchedule, Schedule,
    ScheduleProblem, ScheduleRows,
};
use pgflow_machine::{Command, NewRun, Start, cut_error};

use super::execute::{News, again, execute, tell};
use super::{Access, ScheduleSession, Session, Store, Stored};
use crate::backend::{
    BackendError, DueQuery, DueSchedules, NewSchedule, Reply, ScheduleQuery, Schedules,
};

impl<S: Store> Schedules for S {
    fn put_schedule<'a>(&'a self, new: &'a NewSchedule) -> Reply<'a, Result<Put, ScheduleProblem>> {
        Box::pin(async move { again!(self, put(self, new)) })
    }

    fn pause_schedule<'a>(&'a self, name: &'a str, pause: bool) -> Reply<'a, Paused> {
        Box::pin(async move { again!(self, transact(self, &PauseSchedule { name, pause })) })
    }

    fn remove_schedule<'a>(&'a self, name: &'a str, of: Option<Origin>) -> Reply<'a, bool> {
        Box::pin(async move { again!(self, transact(self, &RemoveSchedule { name, of })) })
    }

    fn list_schedules<'a>(&'a self, query: &'a ScheduleQuery) -> Reply<'a, Vec<Schedule>> {
        Box::pin(async move { self.begin(Access::Read).await?.list_schedules(query).await })
    }

    fn due_schedules<'a>(&'a self, query: &'a DueQuery) -> Reply<'a, DueSchedules> {
        Box::pin(async move { self.begin(Access::Read).await?.due_schedules(query).await })
    }

    fn fire_schedule<'a>(&'a self, fire: &'a Fire<'a>) -> Reply<'a, Fired> {
        Box::pin(async move { again!(self, transact(self, fire)) })
    }
}

async fn put<S: Store>(store: &S, new: &NewSchedule) -> Stored<Result<Put, ScheduleProblem>> {
    store.check_free()?;
    let session = store.begin(Access::Write).await?;
    let NewSchedule { name, spec, begins, first_at } = new;
    let (begins, first_at) = (*begins, *first_at);
    let put = PutSchedule { name, spec, begins, first_at, catalog: Arc::clone(session.catalog()) };
    finish(store, session, &put).await
}

/// Executes a command in a transaction of its own.
async fn transact<S: Store, C: Command<schedule::Schedules>>(
    store: &S,
    command: &C,
) -> Stored<C::Answer> {
    store.check_free()?;
    let session = store.begin(Access::Write).await?;
    finish(store, session, command).await
}

async fn finish<S: Store, C: Command<schedule::Schedules>>(
    store: &S,
    mut session: S::Session,
    command: &C,
) -> Stored<C::Answer> {
    let name = command.needs().name;
    let schedule = session.load_schedule(&name).await?;
    let unreadable = schedule.as_ref().and_then(Schedule::unreadable).map(BackendError::Schema);
    let (is_new, last_run) = (schedule.is_none(), schedule.as_ref().and_then(|it| it.last_run));
    let last = session.statuses(last_run.as_slice()).await?;
    let is_running = last.iter().any(|run| !run.status.has_ended());
    let mut rows = ScheduleRows { schedule, is_running };
    let (answer, writes) = command.decide(&mut rows, session.now())?;
    let news = start(store, &mut session, &mut rows, &writes.starts).await?;
    if writes.schedule {
        match &rows.schedule {
            Some(schedule) => {
                // What could not be read would be overwritten.
                unreadable.filter(|_| schedule.is_unreadable).map_or(Ok(()), Err)?;
                session.write_schedule(schedule, is_new).await?;
            }
            None => session.delete_schedule(&name).await?,
        }
    }
    store.commit(session).await?;
    tell(store, news).await;
    Ok(answer)
}

/// Starts runs, in the same transaction. If one is refused, the schedule says why.
async fn start<S: Store>(
    store: &S,
    session: &mut S::Session,
    rows: &mut ScheduleRows,
    starts: &[NewRun],
) -> Stored<News> {
    if starts.is_empty() {
        return Ok(News::default());
    }
    let catalog = Arc::clone(session.catalog());
    let start = Start { runs: starts.iter().collect(), catalog, limits: store.limits() };
    let (answers, news) = execute(session, &start).await?;
    let refusal = answers.into_iter().find_map(Result::err);
    if let (Some(schedule), Some(refusal)) = (&mut rows.schedule, refusal) {
        schedule.error = Some(cut_error(&refusal.to_string()).to_owned());
    }
    Ok(news)
}
