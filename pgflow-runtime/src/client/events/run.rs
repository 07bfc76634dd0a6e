//! What happens in a run, as it happens.

use pgflow_machine::{Event, Happened, RunId};

use super::{Events, Log};
use crate::Flow;
use crate::client::patience::patiently;
use crate::client::run::summary;
use crate::client::watch::Watch;
use crate::client::{ClientError, Run};
use crate::db::Db;

/// How many events are read at once.
const PAGE: u32 = 256;

impl<F: Flow> Run<F> {
    /// Everything that happened and happens in the run, in order and without gaps, until it has ended.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # async fn example(run: pgflow::Run<count::Flow>) -> Result<(), pgflow::ClientError> {
    /// let mut events = run.events();
    /// while let Some(event) = events.next().await {
    ///     println!("{}", event?.what);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self) -> Events {
        self.events_after(0)
    }

    /// The same, after the event of this number: where an earlier reader stopped.
    pub fn events_after(&self, seq: u64) -> Events {
        self.db.events_of(self.id, seq)
    }
}

impl Db {
    /// Everything that happened and happens in a run of any flow, after the event of this number, until it has ended.
    pub fn events_of(&self, run: RunId, after: u64) -> Events {
        Events::of(RunLog::new(self, run), after)
    }
}

/// The log of a run.
struct RunLog {
    db: Db,
    run: RunId,
    watch: Watch,
    /// The last thing said about the run as a whole is that it ended.
    has_ended: bool,
    /// What the log says about the run's end is known from here on.
    has_read: bool,
    flow: Option<String>,
}

impl Log for RunLog {
    type Event = Event;

    async fn page(&mut self, after: u64) -> Result<Option<Vec<Event>>, ClientError> {
        let events = self.read(after, PAGE).await?;
        if events.is_empty() {
            self.look_at_the_run(after).await?;
            return Ok((!self.has_ended).then_some(events));
        }
        self.has_read = true;
        for event in &events {
            self.note(&event.what);
        }
        Ok(Some(events))
    }

    async fn changed(&mut self) {
        self.watch.changed(self.flow.as_deref(), None).await;
    }

    fn number(event: &Event) -> u64 {
        event.seq
    }
}

impl RunLog {
    fn new(db: &Db, run: RunId) -> Self {
        let (db, watch) = (db.clone(), Watch::new(db));
        Self { db, run, watch, has_ended: false, has_read: false, flow: None }
    }

    async fn read(&self, after: u64, max: u32) -> Result<Vec<Event>, ClientError> {
        let run = self.run;
        Ok(patiently(&self.db, move |backend| backend.events(run, after, max)).await?)
    }

    /// A failed run can be retried, so its end is only its end while nothing follows.
    fn note(&mut self, what: &Happened) {
        match what {
            Happened::RunStarted { .. } | Happened::RunRetried => self.has_ended = false,
            what if what.ends_the_run() => self.has_ended = true,
            _ => {}
        }
    }

    /// A reader that began after the last event, or after one that never comes, would otherwise wait for ever.
    async fn look_at_the_run(&mut self, after: u64) -> Result<(), ClientError> {
        if self.has_read && self.flow.is_some() {
            return Ok(());
        }
        let run = self.run;
        let found = summary(&self.db, run).await?.ok_or(ClientError::UnknownRun { run })?;
        // Asked once more, since there may be a last event by now.
        self.has_ended |= found.status.has_ended() && self.read(after, 1).await?.is_empty();
        self.flow = Some(found.flow);
        Ok(())
    }
}
