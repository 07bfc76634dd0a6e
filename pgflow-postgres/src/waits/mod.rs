//! Waits in Postgres: the contract, kept by the functions of the SQL core.

mod columns;
mod list;
mod open;
mod signal;
mod wake;

use std::time::Duration;

use pgflow_machine::TaskLease;
use pgflow_machine::wait::{HookToken, Signal, Signalled};

pub(super) use columns::WaitColumns;
pub use signal::signal_in;
pub(super) use wake::asks_to_wake;

use super::engine::Lane;
use super::open::Postgres;
use pgflow_backend::backend::{LateWaits, Reply, WaitQuery, WaitRecord, Waits, Woken};

impl Waits for Postgres {
    fn announce<'a>(&'a self, leases: &'a [TaskLease]) -> Reply<'a, Vec<Option<HookToken>>> {
        Box::pin(self.announce_hooks(leases))
    }

    fn signal<'a>(&'a self, signal: &'a Signal) -> Reply<'a, Signalled> {
        Box::pin(self.send_signal(signal))
    }

    fn list_waits<'a>(&'a self, query: &'a WaitQuery) -> Reply<'a, Vec<WaitRecord>> {
        Box::pin(self.waits_of(query))
    }

    fn late_waits(&self, by: Duration, max: u32) -> Reply<'_, LateWaits> {
        Box::pin(self.waits_late_by(by, max))
    }

    fn wake_waits(&self, max: u32) -> Reply<'_, Woken> {
        Box::pin(self.wake(Lane::Client, max))
    }
}
