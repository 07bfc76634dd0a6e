//! Runs that are followed together.

use std::collections::{HashMap, HashSet};

use pgflow_runtime::backend::{RunQuery, RunSummary};
use pgflow_runtime::{ClientError, Db, RunId, RunStatus, Timestamp};

use super::{KEPT, LATE, Printer, RUNS, before};
use crate::error::Error;

/// Events that are read at once.
const PAGE: u32 = 256;
/// A run in which nothing happens is asked after so many looks at most.
const PATIENCE: u32 = 8;

/// Runs that are open or began lately.
pub(super) struct Runs {
    flows: Vec<String>,
    began: Timestamp,
    looked: Timestamp,
    known: HashMap<RunId, Read>,
}

/// How far a run was read.
#[derive(Default)]
struct Read {
    seq: u64,
    remaining_steps: u32,
    /// When it ended, if it was read to its end. Who retries it makes it another.
    ended_at: Option<Timestamp>,
    /// Looks that found nothing, and those that are left out before the next.
    idle: u32,
    left_out: u32,
}

impl Read {
    /// Whether there may be something new: nobody asks a run again and again in which nothing happens.
    fn is_due(&mut self, run: &RunSummary) -> bool {
        if run.ended_at.is_some() {
            return self.ended_at != run.ended_at;
        }
        let is_changed = self.ended_at.is_some() || self.remaining_steps != run.remaining_steps;
        if !is_changed && self.left_out > 0 {
            self.left_out -= 1;
            return false;
        }
        true
    }

    /// Notes how far it was read, to its last event.
    fn note(&mut self, run: &RunSummary, is_news: bool) {
        self.idle = if is_news { 0 } else { (self.idle * 2 + 1).min(PATIENCE) };
        self.left_out = self.idle;
        (self.remaining_steps, self.ended_at) = (run.remaining_steps, run.ended_at);
    }
}

impl Runs {
    /// Those of some flows, or of all; what happened before nobody asked for.
    pub(super) fn new(flows: &[String], began: Timestamp) -> Self {
        Self { flows: flows.to_vec(), began, looked: began, known: HashMap::new() }
    }

    /// Prints what has happened since the last look; whether there may be more.
    pub(super) async fn look(
        &mut self,
        db: &Db,
        now: Timestamp,
        printer: &mut Printer<'_>,
    ) -> Result<bool, Error> {
        let mut listed = HashSet::new();
        for runs in [self.open(db).await?, self.young(db).await?] {
            for run in runs.into_iter().rev() {
                // What has ended meanwhile is read to its end.
                let is_new = listed.insert(run.id) || run.ended_at.is_some();
                if is_new && !self.read(db, &run, printer).await? {
                    return Ok(false);
                }
            }
        }
        for run in self.unlisted(db, &listed).await? {
            if !self.read(db, &run, printer).await? {
                return Ok(false);
            }
        }
        self.known.retain(|_, read| read.ended_at.is_none_or(|at| at >= before(now, KEPT)));
        self.looked = now;
        Ok(true)
    }

    /// The newest that are open.
    async fn open(&self, db: &Db) -> Result<Vec<RunSummary>, Error> {
        let statuses = vec![RunStatus::Started];
        let query =
            RunQuery { flows: self.flows.clone(), statuses, max: RUNS, ..RunQuery::default() };
        Ok(db.list(&query).await?.runs)
    }

    /// All that began since the last look, however many these are.
    async fn young(&self, db: &Db) -> Result<Vec<RunSummary>, Error> {
        let since = Some(before(self.looked, LATE).max(self.began));
        let flows = self.flows.clone();
        let mut next = Some(RunQuery { flows, since, max: RUNS, ..RunQuery::default() });
        let mut all = Vec::new();
        while let Some(query) = next {
            let page = db.list(&query).await?;
            all.extend(page.runs);
            next = page.next;
        }
        Ok(all)
    }

    /// Open ones that are in no list any more: they began before this, or many others began since.
    async fn unlisted(
        &mut self,
        db: &Db,
        listed: &HashSet<RunId>,
    ) -> Result<Vec<RunSummary>, Error> {
        let is_open =
            |(id, read): &(&RunId, &Read)| read.ended_at.is_none() && !listed.contains(id);
        let open: Vec<RunId> = self.known.iter().filter(is_open).map(|(id, _)| *id).collect();
        let mut found = Vec::new();
        for ids in open.chunks(RUNS as usize) {
            found.extend(db.backend().statuses(ids).await.map_err(ClientError::from)?);
        }
        let there: HashSet<RunId> = found.iter().map(|run| run.id).collect();
        for gone in open.iter().filter(|id| !there.contains(id)) {
            self.known.remove(gone);
        }
        found.sort_by_key(|run| (run.ended_at, run.started_at));
        Ok(found)
    }

    /// Prints what is new of a run; whether there may be more.
    async fn read(
        &mut self,
        db: &Db,
        run: &RunSummary,
        printer: &mut Printer<'_>,
    ) -> Result<bool, Error> {
        let since = self.since(run);
        let read = self.known.entry(run.id).or_default();
        if !read.is_due(run) {
            return Ok(true);
        }
        let before = read.seq;
        loop {
            let events = db.backend().events(run.id, read.seq, PAGE).await;
            let events = events.map_err(ClientError::from)?;
            let is_last = events.len() < PAGE as usize;
            for event in events {
                read.seq = event.seq;
                if event.at >= since && !printer.print(run.id, Some(&run.flow), &event)? {
                    return Ok(false);
                }
            }
            if is_last {
                read.note(run, read.seq > before);
                return Ok(true);
            }
        }
    }

    /// From when on its events are news. One that is old and not known has ended and was forgotten, and goes on: somebody has
    /// retried it.
    fn since(&self, run: &RunSummary) -> Timestamp {
        let lately = before(self.looked, LATE);
        let is_known = self.known.contains_key(&run.id);
        if is_known || run.started_at >= lately { self.began } else { self.began.max(lately) }
    }
}
