//! The contract about streams, kept by every store.

use pgflow_machine::Command;
use pgflow_machine::log::{
    self, Append, Appended, CloseStream, Closed, Outlook, StreamKey, StreamProblem,
};

use super::execute::again;
use super::{Access, Session, Store, Stored, StreamFound, StreamSession};
use crate::backend::{PageSize, Reply, StreamPage, StreamQuery, StreamSummary, Streams, Wake};

impl<S: Store> Streams for S {
    fn append<'a>(&'a self, append: &'a Append<'a>) -> Reply<'a, Result<Appended, StreamProblem>> {
        Box::pin(async move {
            // What is wrong with it in any case need not wait for a lock.
            if let Err(problem) = append.check() {
                return Ok(Err(problem));
            }
            let appended = again!(self, transact(self, append))?;
            if appended.as_ref().is_ok_and(|appended| appended.chunks > 0) {
                self.wake(Wake::stream(append.stream));
            }
            Ok(appended)
        })
    }

    fn close_stream<'a>(
        &'a self,
        close: &'a CloseStream<'a>,
    ) -> Reply<'a, Result<Closed, StreamProblem>> {
        Box::pin(async move {
            let closed = again!(self, transact(self, close))?;
            if closed == Ok(Closed::Now) {
                self.wake(Wake::stream(close.stream));
            }
            Ok(closed)
        })
    }

    fn read_stream<'a>(
        &'a self,
        stream: &'a StreamKey,
        from: u64,
        size: PageSize,
    ) -> Reply<'a, Option<StreamPage>> {
        Box::pin(read(self, stream, from, size))
    }

    fn list_streams<'a>(&'a self, query: &'a StreamQuery) -> Reply<'a, Vec<StreamSummary>> {
        Box::pin(async move { self.begin(Access::Read).await?.list_streams(query).await })
    }

    fn prune_streams(&self, max: u32) -> Reply<'_, u64> {
        Box::pin(async move { again!(self, prune(self, max)) })
    }
}

/// Executes a command in a transaction of its own.
async fn transact<S: Store, C: Command<log::Streams>>(store: &S, command: &C) -> Stored<C::Answer> {
    store.check_free()?;
    let needs = command.needs();
    let mut session = store.begin(Access::Write).await?;
    let mut rows = session.load_stream(&needs).await?;
    let (answer, writes) = command.decide(&mut rows, session.now())?;
    if writes.stream {
        session.write_stream(&needs, &rows, writes).await?;
    }
    store.commit(session).await?;
    Ok(answer)
}

async fn read<S: Store>(
    store: &S,
    stream: &StreamKey,
    from: u64,
    size: PageSize,
) -> Stored<Option<StreamPage>> {
    let mut session = store.begin(Access::Read).await?;
    let StreamFound { owner, id, row, chunks } = session.read_stream(stream, from, size).await?;
    let is_named = matches!(stream, StreamKey::Named(_));
    if owner.is_none() && !is_named {
        return Ok(None);
    }
    let outlook = Outlook::of(row.as_ref(), owner);
    Ok(Some(StreamPage::new(chunks, id.filter(|_| is_named), row, outlook)))
}

async fn prune<S: Store>(store: &S, max: u32) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let pruned = session.prune_streams(max).await?;
    store.commit(session).await?;
    Ok(pruned)
}
