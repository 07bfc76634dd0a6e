//! Appending.

use std::time::Duration;

use super::{
    LASTS, StreamKey, StreamNeeds, StreamProblem, StreamRow, StreamRows, StreamWrites, Streams,
    Writer,
};
use crate::{Command, Limits, Refusal, Timestamp};

/// Chunks that can be appended at once.
pub const CHUNKS_AT_ONCE: usize = 1_000;

/// Appends chunks to a stream, which need not be there yet.
#[derive(Clone, Debug)]
pub struct Append<'a> {
    /// To which.
    pub stream: &'a StreamKey,
    /// Who.
    pub writer: Writer,
    /// The writer's number of the first chunk; the others follow.
    pub first: u64,
    /// What.
    pub chunks: &'a [Vec<u8>],
    /// How long a stream of its own is kept from now on.
    pub lasts: Duration,
    /// What a chunk may be.
    pub limits: Limits,
}

/// What was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The stream's number of the first new chunk; nothing if all of them were there.
    pub first: Option<u64>,
    /// How many were new.
    pub chunks: u64,
}

impl<'a> Append<'a> {
    /// These chunks, kept for as long as usual.
    pub fn new(
        stream: &'a StreamKey,
        writer: Writer,
        first: u64,
        chunks: &'a [Vec<u8>],
        limits: Limits,
    ) -> Self {
        Self { stream, writer, first, chunks, lasts: LASTS, limits }
    }

    /// What is wrong with it, whatever the stream is.
    pub fn check(&self) -> Result<(), StreamProblem> {
        check_writer(self.stream, &self.writer)?;
        if self.chunks.len() > CHUNKS_AT_ONCE {
            return Err(StreamProblem::TooMany(self.chunks.len()));
        }
        let bytes = self.chunks.iter().map(Vec::len).sum();
        let limit = self.limits.max_bytes;
        if bytes > limit { Err(StreamProblem::TooLarge { bytes, limit }) } else { Ok(()) }
    }

    /// Those of the chunks that are new, if none is missing before them.
    fn fresh(&self, written: u64) -> Result<&'a [Vec<u8>], StreamProblem> {
        let Some(known) = written.checked_sub(self.first) else {
            return Err(StreamProblem::Gap { expected: written, first: self.first });
        };
        let known = usize::try_from(known).unwrap_or(usize::MAX).min(self.chunks.len());
        Ok(&self.chunks[known..])
    }

    fn act<'c>(
        &'c self,
        rows: &mut StreamRows,
        now: Timestamp,
    ) -> Result<(Appended, StreamWrites<'c>), StreamProblem> {
        self.check()?;
        let chunks = self.fresh(rows.written)?;
        if chunks.is_empty() {
            return Ok((Appended { first: None, chunks: 0 }, StreamWrites::default()));
        }
        let is_new = rows.stream.is_none();
        let row = open(self.stream, &self.writer, rows)?;
        if let Some(end) = &row.end {
            return Err(StreamProblem::Ended(end.clone()));
        }
        let (first, many) = (row.next, chunks.len() as u64);
        let (offset, expires_at) = (row.bytes, expiry(self.stream, now, self.lasts));
        let bytes = offset + chunks.iter().map(Vec::len).sum::<usize>() as u64;
        rows.stream = Some(StreamRow { next: first + many, bytes, expires_at, ..row });
        rows.written += many;
        let writes = StreamWrites { stream: true, is_new, writer: true, first, offset, chunks };
        Ok((Appended { first: Some(first), chunks: many }, writes))
    }
}

impl Command<Streams> for Append<'_> {
    type Answer = Result<Appended, StreamProblem>;

    fn needs(&self) -> StreamNeeds {
        StreamNeeds { stream: Some(self.stream.clone()), writer: Some(self.writer.clone()) }
    }

    fn decide<'c>(
        &'c self,
        rows: &mut StreamRows,
        now: Timestamp,
    ) -> Result<(Self::Answer, StreamWrites<'c>), Refusal> {
        Ok(match self.act(rows, now) {
            Ok((appended, writes)) => (Ok(appended), writes),
            Err(problem) => (Err(problem), StreamWrites::default()),
        })
    }
}

/// Whether this one could write there at all.
pub(super) fn check_writer(stream: &StreamKey, writer: &Writer) -> Result<(), StreamProblem> {
    match (stream, writer) {
        (StreamKey::Task(_), Writer::Attempt(_)) | (StreamKey::Named(_), Writer::Named(_)) => {
            Ok(())
        }
        _ => Err(StreamProblem::WrongWriter),
    }
}

/// The row for a writer to write to: if it is an attempt, of its own generation.
pub(super) fn open(
    stream: &StreamKey,
    writer: &Writer,
    rows: &StreamRows,
) -> Result<StreamRow, StreamProblem> {
    let row = rows.stream.clone().unwrap_or_default();
    let (StreamKey::Task(_), Some(attempt)) = (stream, writer.attempt()) else { return Ok(row) };
    let owner = rows.owner.ok_or(StreamProblem::UnknownTask)?;
    if !owner.holds(attempt) {
        return Err(StreamProblem::Superseded(attempt));
    }
    if row.generation == attempt {
        return Ok(row);
    }
    Ok(StreamRow { generation: attempt, begins_at: row.next, end: None, ..row })
}

/// A task's stream goes with its run.
pub(super) fn expiry(stream: &StreamKey, now: Timestamp, lasts: Duration) -> Option<Timestamp> {
    matches!(stream, StreamKey::Named(_)).then(|| now + lasts)
}
