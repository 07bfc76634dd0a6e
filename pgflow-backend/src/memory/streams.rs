//! Streams, in a turn.

use std::collections::{BTreeMap, HashMap};

use pgflow_machine::log::{Owner, StreamKey, StreamNeeds, StreamRow, StreamRows, StreamWrites};
use pgflow_machine::{RunId, TaskKey, Timestamp};

use super::data::Data;
use super::session::MemorySession;
use crate::backend::{Chunk, PageSize, StreamQuery, StreamSummary};
use crate::store::{Stored, StreamFound, StreamSession};

/// All streams.
#[derive(Debug, Default)]
pub(super) struct StreamData {
    kept: BTreeMap<StreamKey, Kept>,
    /// How many there were ever.
    made: i64,
}

#[derive(Debug, Default)]
struct Kept {
    /// Which one it was when it was made.
    id: i64,
    row: StreamRow,
    /// By number.
    chunks: Vec<Chunk>,
    /// What each writer's next chunk is numbered.
    writers: HashMap<String, u64>,
}

impl StreamData {
    fn load(&self, needs: &StreamNeeds, owner: Option<Owner>) -> StreamRows {
        let kept = needs.stream.as_ref().and_then(|stream| self.kept.get(stream));
        let writer = needs.writer.as_ref().map(ToString::to_string);
        let written = kept.zip(writer).and_then(|(kept, writer)| kept.writers.get(&writer));
        let (stream, written) = (kept.map(|kept| kept.row.clone()), written.copied());
        StreamRows { owner, stream, written: written.unwrap_or_default() }
    }

    fn write(&mut self, needs: &StreamNeeds, rows: &StreamRows, writes: &StreamWrites<'_>) {
        let (Some(stream), Some(row)) = (&needs.stream, &rows.stream) else { return };
        let made = &mut self.made;
        let kept = self.kept.entry(stream.clone()).or_insert_with(|| {
            *made += 1;
            Kept { id: *made, ..Kept::default() }
        });
        kept.row = row.clone();
        let numbered = (writes.first..).zip(writes.chunks);
        let generation = row.generation;
        kept.chunks.extend(numbered.map(|(number, data)| Chunk {
            number,
            generation,
            data: data.clone(),
        }));
        if let Some(writer) = needs.writer.as_ref().filter(|_| writes.writer) {
            kept.writers.insert(writer.to_string(), rows.written);
        }
    }

    fn read(&self, stream: &StreamKey, from: u64, size: PageSize) -> StreamFound {
        let Some(kept) = self.kept.get(stream) else { return StreamFound::default() };
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(kept.chunks.len());
        let mut room = i64::from(size.bytes.max(1));
        let fits = |chunk: &&Chunk| {
            let has_room = room > 0;
            room -= i64::try_from(chunk.data.len()).unwrap_or(i64::MAX);
            has_room
        };
        let page = kept.chunks[from..].iter().take(size.chunks as usize).take_while(fits);
        let (id, row) = (Some(kept.id), Some(kept.row.clone()));
        StreamFound { owner: None, id, row, chunks: page.cloned().collect() }
    }

    fn list(&self, query: &StreamQuery) -> Vec<StreamSummary> {
        let is_asked = |stream: &StreamKey| match (stream, query.run) {
            (StreamKey::Task(task), Some(run)) => task.run == run,
            (StreamKey::Named(name), None) => {
                query.after.as_deref().is_none_or(|after| **name > *after)
            }
            _ => false,
        };
        let found =
            self.kept.iter().filter(|(stream, _)| is_asked(stream)).take(query.max as usize);
        found.map(|(stream, kept)| StreamSummary::new(stream.clone(), kept.row.clone())).collect()
    }

    fn prune(&mut self, now: Timestamp, max: u32) -> u64 {
        let is_over = |kept: &Kept| kept.row.expires_at.is_some_and(|expires_at| expires_at <= now);
        let over = self.kept.iter().filter(|(_, kept)| is_over(kept)).take(max as usize);
        let over: Vec<_> = over.map(|(stream, _)| stream.clone()).collect();
        for stream in &over {
            self.kept.remove(stream);
        }
        over.len() as u64
    }

    /// Forgets those of a run.
    pub(super) fn delete_run(&mut self, run: RunId) {
        let first = StreamKey::Task(TaskKey { run, step: String::new(), index: 0 });
        let is_of_it =
            |stream: &&StreamKey| matches!(stream, StreamKey::Task(task) if task.run == run);
        let of_it = self.kept.range(first..).map(|(stream, _)| stream).take_while(is_of_it);
        for stream in of_it.cloned().collect::<Vec<_>>() {
            self.kept.remove(&stream);
        }
    }
}

impl Data {
    fn owner(&self, stream: &StreamKey) -> Option<Owner> {
        let StreamKey::Task(TaskKey { run, step, index }) = stream else { return None };
        let run = self.runs.get(run)?;
        let step = run.plan().index(step)?;
        let task = run.task(step, *index).map(|task| (task.row.status, task.row.attempts));
        Some(Owner { run: run.state.status, step: run.state.steps[step].status, task })
    }
}

impl StreamSession for MemorySession {
    async fn load_stream(&mut self, needs: &StreamNeeds) -> Stored<StreamRows> {
        let data = self.data();
        let owner = needs.stream.as_ref().and_then(|stream| data.owner(stream));
        Ok(data.streams.load(needs, owner))
    }

    async fn write_stream(
        &mut self,
        needs: &StreamNeeds,
        rows: &StreamRows,
        writes: StreamWrites<'_>,
    ) -> Stored<()> {
        self.data().streams.write(needs, rows, &writes);
        Ok(())
    }

    async fn read_stream(
        &mut self,
        stream: &StreamKey,
        from: u64,
        size: PageSize,
    ) -> Stored<StreamFound> {
        let data = self.data();
        let found = data.streams.read(stream, from, size);
        Ok(StreamFound { owner: data.owner(stream), ..found })
    }

    async fn list_streams(&mut self, query: &StreamQuery) -> Stored<Vec<StreamSummary>> {
        Ok(self.data().streams.list(query))
    }

    async fn prune_streams(&mut self, max: u32) -> Stored<u64> {
        let now = self.now;
        Ok(self.data().streams.prune(now, max))
    }
}
