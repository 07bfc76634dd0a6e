//! What is almost right about waits, streams and schedules.

use std::time::Duration;

use pgflow_machine::TaskLease;
use pgflow_machine::log::{
    Append, Appended, CloseStream, Closed, StreamKey, StreamProblem, Writer,
};
use pgflow_machine::schedule::{Fire, Fired, Origin, Paused, Put, Schedule, ScheduleProblem};
use pgflow_machine::wait::{HookToken, Signal, Signalled};
use pgflow_test_support::contract_prelude::*;

use crate::backend::Faulty;
use crate::fault::Fault;

impl Waits for Faulty {
    fn announce<'a>(&'a self, leases: &'a [TaskLease]) -> Reply<'a, Vec<Option<HookToken>>> {
        Box::pin(async move { self.inner.waits()?.announce(leases).await })
    }

    fn signal<'a>(&'a self, signal: &'a Signal) -> Reply<'a, Signalled> {
        Box::pin(async move {
            let mut signal = signal.clone();
            match self.fault {
                Fault::IgnoresResumeIds => signal.resume_id = None,
                Fault::LosesKeptSignals => signal.buffer_for = Duration::ZERO,
                _ => {}
            }
            match self.inner.waits()?.signal(&signal).await? {
                Signalled::Conflict if self.is(Fault::NoSignalConflicts) => {
                    Ok(Signalled::Duplicate)
                }
                signalled => Ok(signalled),
            }
        })
    }

    fn list_waits<'a>(&'a self, query: &'a WaitQuery) -> Reply<'a, Vec<WaitRecord>> {
        Box::pin(async move { self.inner.waits()?.list_waits(query).await })
    }

    fn late_waits(&self, by: Duration, max: u32) -> Reply<'_, LateWaits> {
        Box::pin(async move { self.inner.waits()?.late_waits(by, max).await })
    }

    fn wake_waits(&self, max: u32) -> Reply<'_, Woken> {
        if self.is(Fault::NeverWakes) {
            return Box::pin(async { Ok(Woken::default()) });
        }
        Box::pin(async move { self.inner.waits()?.wake_waits(max).await })
    }
}

impl Streams for Faulty {
    fn append<'a>(&'a self, append: &'a Append<'a>) -> Reply<'a, Result<Appended, StreamProblem>> {
        Box::pin(async move {
            let mut append = append.clone();
            if self.is(Fault::AppendsAgain) && !matches!(append.writer, Writer::Attempt(_)) {
                (append.writer, append.first) = (Writer::new(), 0);
            }
            match self.inner.streams()?.append(&append).await? {
                Err(StreamProblem::Ended(_)) if self.is(Fault::AppendsAfterTheEnd) => {
                    Ok(Ok(Appended { first: Some(0), chunks: append.chunks.len() as u64 }))
                }
                appended => Ok(appended),
            }
        })
    }

    fn close_stream<'a>(
        &'a self,
        close: &'a CloseStream<'a>,
    ) -> Reply<'a, Result<Closed, StreamProblem>> {
        Box::pin(async move { self.inner.streams()?.close_stream(close).await })
    }

    fn read_stream<'a>(
        &'a self,
        stream: &'a StreamKey,
        from: u64,
        size: PageSize,
    ) -> Reply<'a, Option<StreamPage>> {
        Box::pin(async move {
            let mut page = self.inner.streams()?.read_stream(stream, from, size).await?;
            if self.is(Fault::RenumbersChunks) {
                // From the beginning of the page, as if nothing had been before.
                for (number, chunk) in (0..).zip(page.iter_mut().flat_map(|page| &mut page.chunks))
                {
                    chunk.number = number;
                }
            }
            Ok(page)
        })
    }

    fn list_streams<'a>(&'a self, query: &'a StreamQuery) -> Reply<'a, Vec<StreamSummary>> {
        Box::pin(async move { self.inner.streams()?.list_streams(query).await })
    }

    fn prune_streams(&self, max: u32) -> Reply<'_, u64> {
        Box::pin(async move { self.inner.streams()?.prune_streams(max).await })
    }
}

impl Faulty {
    /// Fires again what was fired before, as somebody who does not look at the revision would.
    async fn fire_anyway(&self, fire: &Fire<'_>) -> Result<Fired, BackendError> {
        let schedules = self.inner.schedules()?;
        let query = ScheduleQuery { name: Some(fire.name.to_owned()), ..ScheduleQuery::default() };
        let found = schedules.list_schedules(&query).await?.pop();
        let revision = found.map_or(fire.revision, |schedule| schedule.revision);
        schedules.fire_schedule(&Fire { revision, ..fire.clone() }).await
    }
}

impl Schedules for Faulty {
    fn put_schedule<'a>(&'a self, new: &'a NewSchedule) -> Reply<'a, Result<Put, ScheduleProblem>> {
        Box::pin(async move { self.inner.schedules()?.put_schedule(new).await })
    }

    fn pause_schedule<'a>(&'a self, name: &'a str, pause: bool) -> Reply<'a, Paused> {
        Box::pin(async move { self.inner.schedules()?.pause_schedule(name, pause).await })
    }

    fn remove_schedule<'a>(&'a self, name: &'a str, of: Option<Origin>) -> Reply<'a, bool> {
        Box::pin(async move { self.inner.schedules()?.remove_schedule(name, of).await })
    }

    fn list_schedules<'a>(&'a self, query: &'a ScheduleQuery) -> Reply<'a, Vec<Schedule>> {
        Box::pin(async move { self.inner.schedules()?.list_schedules(query).await })
    }

    fn due_schedules<'a>(&'a self, query: &'a DueQuery) -> Reply<'a, DueSchedules> {
        Box::pin(async move { self.inner.schedules()?.due_schedules(query).await })
    }

    fn fire_schedule<'a>(&'a self, fire: &'a Fire<'a>) -> Reply<'a, Fired> {
        Box::pin(async move {
            match self.inner.schedules()?.fire_schedule(fire).await? {
                Fired::Superseded if self.is(Fault::IgnoresRevisions) => {
                    self.fire_anyway(fire).await
                }
                Fired::Fired { started, .. } if self.is(Fault::HidesSkippedMoments) => {
                    Ok(Fired::Fired { started, skipped: 0 })
                }
                fired => Ok(fired),
            }
        })
    }
}
