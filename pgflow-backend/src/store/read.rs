//! What is there, read.

use std::collections::HashMap;

use pgflow_machine::{Event, Payload, RunId};
use serde_json::Value;

use super::{Access, Logged, Session, Store, Stored};

pub(super) async fn events<S: Store>(
    store: &S,
    run: RunId,
    after: u64,
    max: u32,
) -> Stored<Vec<Event>> {
    let mut session = store.begin(Access::Read).await?;
    let Some(Logged { version, entries }) = session.log(run, after, max).await? else {
        return Ok(Vec::new());
    };
    let payloads = entries.iter().filter_map(|(_, _, entry)| Some((run, entry.payload()?)));
    let wanted: Vec<_> = payloads.collect();
    let mut values = match &wanted[..] {
        [] => HashMap::new(),
        wanted => session.payloads(wanted).await?,
    };
    let events = entries.into_iter().map(|(seq, at, entry)| {
        // A step that failed may complete later, but nothing does so twice.
        let value = |payload| values.remove(&(run, payload)).unwrap_or_default();
        Event { seq, at, what: entry.happened(&version.plan, value) }
    });
    Ok(events.collect())
}

pub(super) async fn input<S: Store>(store: &S, run: RunId) -> Stored<Option<Value>> {
    let mut session = store.begin(Access::Read).await?;
    let wanted = (run, Payload::RunInput);
    Ok(session.payloads(&[wanted]).await?.remove(&wanted))
}
