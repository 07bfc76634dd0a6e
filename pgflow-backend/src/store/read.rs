//! What is there, read.

use std::collections::HashMap;

use pgflow_machine::{EVENT_BYTES, Entry, Event, Payload, RunId, Timestamp};
use serde_json::Value;

use super::{Access, Logged, Session, Store, Stored};

pub(super) async fn events<S: Store>(
    store: &S,
    run: RunId,
    after: u64,
    max: u32,
) -> Stored<Vec<Event>> {
    let mut session = store.begin(Access::Read).await?;
    let Some(Logged { version, mut entries }) = session.log(run, after, max).await? else {
        return Ok(Vec::new());
    };
    if payloads(&entries).nth(1).is_some() {
        let weights = session.weights(run).await?;
        entries.truncate(fitting(&entries, &weights));
    }
    let wanted: Vec<_> = payloads(&entries).map(|payload| (run, payload)).collect();
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

type Logs = [(u64, Timestamp, Entry)];

fn payloads(entries: &Logs) -> impl Iterator<Item = Payload> {
    entries.iter().filter_map(|(_, _, entry)| entry.payload())
}

/// How many entries make up a page.
fn fitting(entries: &Logs, weights: &HashMap<Payload, usize>) -> usize {
    let mut bytes: usize = 0;
    let fits = |(_, _, entry): &&(u64, Timestamp, Entry)| {
        let weight = entry.payload().and_then(|payload| weights.get(&payload));
        bytes = bytes.saturating_add(weight.copied().unwrap_or_default());
        bytes <= EVENT_BYTES
    };
    entries.iter().take_while(fits).count().max(1)
}

pub(super) async fn input<S: Store>(store: &S, run: RunId) -> Stored<Option<Value>> {
    let mut session = store.begin(Access::Read).await?;
    let wanted = (run, Payload::RunInput);
    Ok(session.payloads(&[wanted]).await?.remove(&wanted))
}
