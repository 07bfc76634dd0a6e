//! The way of a transition: load, decide, write.

use std::collections::BTreeSet;
use std::sync::Arc;

use pgflow_machine::{Command, Entry, Needs, Refusal, Rows, RunId, Writes};

use super::waits::Ends;
use super::{Access, Session, Store, Stored, jobs, waits};
use crate::backend::{BackendError, EndedRun, Wake};

/// What is told after the commit.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Flows that there is something new about.
    pub(super) flows: BTreeSet<Arc<str>>,
    /// Runs that ended.
    pub(super) ended: Vec<EndedRun>,
    /// What jobs need that waited for those.
    pub(super) ready: jobs::Ready,
    /// Waits can go on, or children are to be cancelled.
    pub(super) waits: bool,
}

impl News {
    pub(super) fn extend(&mut self, more: Self) {
        self.flows.extend(more.flows);
        self.ended.extend(more.ended);
        self.ready.extend(more.ready);
        self.waits |= more.waits;
    }
}

/// Executes a command in a transaction that is open. Also says which flows have news: tell after the commit.
pub(crate) async fn execute<S: Session, C: Command>(
    session: &mut S,
    command: &C,
) -> Stored<(C::Answer, News)> {
    let mut rows = Rows::default();
    load(session, &command.needs(), &mut rows).await?;
    let more = command.more(&rows);
    if !more.is_empty() {
        load(session, &more, &mut rows).await?;
    }
    let (answer, mut writes) = command.decide(&mut rows, session.now())?;
    let mut news = news(&rows, &writes);
    let given_up = std::mem::take(&mut writes.given_up);
    if !writes.is_empty() {
        let ended = writes.ended(&rows);
        let ties = if rows.ties.is_empty() { Ends::default() } else { Ends::of(&rows, &writes) };
        session.write(&rows, writes).await?;
        news.waits = waits::untie(session, &ties).await?;
        // Jobs may wait for runs: they are told in the same transaction.
        news.ready = jobs::runs_ended(session, &ended).await?;
    }
    if !given_up.is_empty() {
        news.ready.permits.extend(session.drop_task_holds(&given_up).await?);
    }
    Ok((answer, news))
}

async fn load<S: Session>(session: &mut S, needs: &Needs, rows: &mut Rows) -> Stored<()> {
    session.load(needs, rows).await?;
    if !needs.payloads.is_empty() {
        for ((run, payload), value) in session.payloads(&needs.payloads).await? {
            rows.put(run, payload, value);
        }
    }
    Ok(())
}

fn news(rows: &Rows, writes: &Writes<'_>) -> News {
    let slug = |run: RunId| Some(Arc::clone(rows.runs.get(&run)?.version.slug()));
    let ended = writes.changes.iter().filter_map(|(run, change)| {
        let (status, error) = change.log.iter().rev().find_map(Entry::end)?;
        let (error, flow) = (error.map(str::to_owned), slug(*run)?.to_string());
        Some(EndedRun { run: *run, flow, status, error })
    });
    let flows = writes.news().into_iter().filter_map(slug).collect();
    News { ended: ended.collect(), flows, ..News::default() }
}

/// Executes a command in a transaction of its own.
pub(super) async fn transact<S: Store, C: Command>(store: &S, command: &C) -> Stored<C::Answer> {
    let mut session = store.begin(Access::Write).await?;
    let (answer, news) = execute(&mut session, command).await?;
    store.commit(session).await?;
    tell(store, news).await;
    Ok(answer)
}

/// Tells those who listen, and lets those go on who waited: each in a transaction of its own, so that nobody who holds a child waits
/// for its parent.
pub(super) async fn tell<S: Store>(store: &S, news: News) {
    let waits = news.waits || news.ready.waits;
    hint(store, news);
    if waits {
        waits::advance(store).await;
    }
}

/// Tells those who listen.
pub(super) fn hint<S: Store>(store: &S, news: News) {
    news.ended.iter().for_each(EndedRun::announce);
    for flow in news.flows {
        store.wake(Wake::queue(flow));
    }
    jobs::hint(store, news.ready);
}

/// Does a transition, and does all of it again when the database has undone it because of another one.
macro_rules! again {
    ($store:expr, $transition:expr) => {{
        let mut tries = 0;
        loop {
            match $transition.await {
                Err(error) => {
                    tries += 1;
                    match $store.pause_before_retry(&error, tries) {
                        Some(pause) => tokio::time::sleep(pause).await,
                        None => break Err(error),
                    }
                }
                answer => break answer,
            }
        }
    }};
}

pub(super) use again;

impl From<Refusal> for BackendError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::UnknownFlow { flow } => Self::UnknownFlow { flow },
            Refusal::UnknownVersion { flow, version } => Self::UnknownVersion { flow, version },
            Refusal::OtherFlow { run, flow } => Self::OtherFlow { run, flow },
            Refusal::NotAnArray { flow, found } => Self::NotAnArray { flow, found },
            Refusal::Payload { what, source } => Self::Payload { what, source },
            other => Self::Refused(other.into()),
        }
    }
}
