//! Ending.

use std::time::Duration;

use super::append::{check_writer, expiry, open};
use super::{
    End, LASTS, StreamKey, StreamNeeds, StreamProblem, StreamRow, StreamRows, StreamWrites,
    Streams, Writer,
};
use crate::{Command, Refusal, Timestamp};

/// Ends a stream, which need not be there yet; an attempt ends its generation.
#[derive(Clone, Debug)]
pub struct CloseStream<'a> {
    /// Which.
    pub stream: &'a StreamKey,
    /// Who.
    pub writer: Writer,
    /// How.
    pub end: &'a End,
    /// How long a stream of its own is kept from now on.
    pub lasts: Duration,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// It has ended now.
    Now,
    /// It had ended before, like this.
    Before(End),
}

impl<'a> CloseStream<'a> {
    /// Ends it like this.
    pub fn new(stream: &'a StreamKey, writer: Writer, end: &'a End) -> Self {
        Self { stream, writer, end, lasts: LASTS }
    }

    /// What is wrong with it, whatever the stream is.
    pub fn check(&self) -> Result<(), StreamProblem> {
        check_writer(self.stream, &self.writer)
    }

    fn act(&self, rows: &mut StreamRows, now: Timestamp) -> Result<Closed, StreamProblem> {
        self.check()?;
        let row = open(self.stream, &self.writer, rows)?;
        if let Some(end) = row.end {
            return Ok(Closed::Before(end));
        }
        let expires_at = expiry(self.stream, now, self.lasts);
        let end = Some(self.end.clone());
        rows.stream = Some(StreamRow { end, expires_at, ..row });
        Ok(Closed::Now)
    }
}

impl Command<Streams> for CloseStream<'_> {
    type Answer = Result<Closed, StreamProblem>;

    fn needs(&self) -> StreamNeeds {
        StreamNeeds { stream: Some(self.stream.clone()), writer: None }
    }

    fn decide<'c>(
        &'c self,
        rows: &mut StreamRows,
        now: Timestamp,
    ) -> Result<(Self::Answer, StreamWrites<'c>), Refusal> {
        let is_new = rows.stream.is_none();
        let answer = self.act(rows, now);
        let stream = answer == Ok(Closed::Now);
        Ok((answer, StreamWrites { stream, is_new, ..StreamWrites::default() }))
    }
}
