//! The contract about waits, kept by every store.
//!
//! | file | what is done there |
//! |---|---|
//! | `settle` | attempts that end by waiting |
//! | `signal` | what is sent to them |
//! | `wake` | waits that are over, children that nobody waits for |
//! | `ties` | what the end of a run or step means for waits |

mod settle;
mod signal;
mod ties;
mod wake;

use std::time::Duration;

use pgflow_machine::wait::{HookToken, Signal, Signalled};
use pgflow_machine::{Holds, Lease, TaskKey, TaskLease, Timestamp};

use super::execute::{again, execute};
use super::{Access, Session, Store, Stored, WaitSession};
use crate::backend::{LateWaits, Reply, WaitQuery, WaitRecord, Waits, Woken};

pub(super) use settle::settle_in;
pub use signal::signal_in;
pub(super) use ties::{Ends, untie, untie_version};
pub(super) use wake::{advance, wake};

impl<S: Store> Waits for S {
    fn announce<'a>(&'a self, leases: &'a [TaskLease]) -> Reply<'a, Vec<Option<HookToken>>> {
        Box::pin(async move { again!(self, announce(self, leases)) })
    }

    fn signal<'a>(&'a self, signal: &'a Signal) -> Reply<'a, Signalled> {
        Box::pin(signal::signal(self, signal))
    }

    fn list_waits<'a>(&'a self, query: &'a WaitQuery) -> Reply<'a, Vec<WaitRecord>> {
        Box::pin(async move { self.begin(Access::Read).await?.list_waits(query).await })
    }

    fn late_waits(&self, by: Duration, max: u32) -> Reply<'_, LateWaits> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let now = Session::now(&session);
            let (waits, first) = session.late_waits(before(now, by), max).await?;
            Ok(LateWaits::new(waits, first, now))
        })
    }

    fn wake_waits(&self, max: u32) -> Reply<'_, Woken> {
        Box::pin(wake(self, max))
    }
}

fn before(now: Timestamp, time: Duration) -> Timestamp {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.micros().saturating_sub(micros))
}

async fn announce<S: Store>(store: &S, leases: &[TaskLease]) -> Stored<Vec<Option<HookToken>>> {
    let mut session = store.begin(Access::Write).await?;
    let held: Vec<Lease> = leases.iter().cloned().map(Lease::from).collect();
    let (holds, _) = execute(&mut session, &Holds { leases: &held }).await?;
    let mut tokens = Vec::with_capacity(leases.len());
    for (lease, holds) in leases.iter().zip(holds) {
        tokens.push(if holds { Some(token(&mut session, &lease.task).await?) } else { None });
    }
    store.commit(session).await?;
    Ok(tokens)
}

/// The token of a task, which is made when it is first asked for.
async fn token<S: Session>(session: &mut S, task: &TaskKey) -> Stored<HookToken> {
    if let Some(token) = session.announced(task).await? {
        return Ok(token);
    }
    let token = HookToken::new();
    session.set_hook(&token, task).await?;
    Ok(token)
}
