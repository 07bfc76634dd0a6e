//! Runs that are followed together.

use std::collections::{HashMap, HashSet};

use pgflow_runtime::backend::{RunQuery, RunSummary};
use pgflow_runtime::{ClientError, Db, RunId, RunStatus, Timestamp};

use super::{Printer, RUNS};
use crate::error::Error;

/// Events that are read at once.
const PAGE: u32 = 256;

/// Runs that are open or began lately.
pub(super) struct Runs {
    flows: Vec<String>,
    since: Timestamp,
    known: HashMap<RunId, Read>,
}

/// How far a run was read.
#[derive(Default)]
struct Read {
    seq: u64,
    /// When it ended, if it was read to its end. Who retries it makes it another.
    ended_at: Option<Timestamp>,
}

impl Runs {
    /// Those of some flows, or of all; what happened before nobody asked for.
    pub(super) fn new(flows: &[String], since: Timestamp) -> Self {
        Self { flows: flows.to_vec(), since, known: HashMap::new() }
    }

    /// Prints what has happened since the last look; whether there may be more.
    pub(super) async fn look(&mut self, db: &Db, printer: &mut Printer<'_>) -> Result<bool, Error> {
        let mut listed = HashSet::new();
        for query in self.queries() {
            for run in db.list(&query).await?.runs.into_iter().rev() {
                listed.insert(run.id);
                if !self.read(db, &run, printer).await? {
                    return Ok(false);
                }
            }
        }
        for run in self.unlisted(db, &listed).await? {
            if !self.read(db, &run, printer).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn queries(&self) -> [RunQuery; 2] {
        let query = |statuses: Vec<RunStatus>, since| RunQuery {
            flows: self.flows.clone(),
            statuses,
            since,
            after: None,
            max: RUNS,
        };
        [query(vec![RunStatus::Started], None), query(Vec::new(), Some(self.since))]
    }

    /// Runs that have ended and are in no list: they began before this, or many others began since.
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
        found.retain(|run| run.ended_at.is_some());
        found.sort_by_key(|run| run.ended_at);
        Ok(found)
    }

    /// Prints what is new of a run, once it has ended for the last time; whether there may be more.
    async fn read(
        &mut self,
        db: &Db,
        run: &RunSummary,
        printer: &mut Printer<'_>,
    ) -> Result<bool, Error> {
        let read = self.known.entry(run.id).or_default();
        if read.ended_at.is_some() && read.ended_at == run.ended_at {
            return Ok(true);
        }
        loop {
            let events = db.backend().events(run.id, read.seq, PAGE).await;
            let events = events.map_err(ClientError::from)?;
            let is_last = events.len() < PAGE as usize;
            for event in events {
                read.seq = event.seq;
                if event.at >= self.since && !printer.print(run.id, Some(&run.flow), &event)? {
                    return Ok(false);
                }
            }
            if is_last {
                read.ended_at = run.ended_at;
                return Ok(true);
            }
        }
    }
}
