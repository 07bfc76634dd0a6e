//! Work that was claimed before there was room for it.

use std::collections::VecDeque;

use pgflow_machine::Lease;

use super::Permit;
use super::engine::Engine;
use crate::backend::ClaimedWork;

/// What was claimed ahead, the first first. Its leases are kept like those of attempts that run.
#[derive(Debug, Default)]
pub(super) struct Ahead(VecDeque<(ClaimedWork, Permit)>);

impl Ahead {
    pub(super) fn leases(&self) -> impl Iterator<Item = Lease> {
        self.0.iter().map(|(work, _)| work.lease())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// It is not ours any more.
    fn remove(&mut self, lease: &Lease) -> Option<ClaimedWork> {
        let at = self.0.iter().position(|(work, _)| work.lease() == *lease)?;
        self.0.remove(at).map(|(work, _)| work)
    }
}

impl Engine {
    /// Lets work wait until there is room for it, and says whether it does.
    pub(super) fn waits(&mut self, work: ClaimedWork) -> Option<ClaimedWork> {
        let Some(place) = self.handlers.wait(&work, self.slots.free() == 0) else {
            return Some(work);
        };
        self.leases.insert(work.lease(), work.lasts());
        if self.stage.is_working() {
            self.ahead.0.push_back((work, place));
        } else {
            // No attempt is used up by work that a worker which stops has never begun.
            self.return_unused(&work);
        }
        None
    }

    /// Begins what there is room for by now.
    pub(super) fn begin_ahead(&mut self) {
        for _ in 0..self.ahead.0.len() {
            let Some((work, place)) = self.ahead.0.pop_front() else { return };
            // Its place is free while it asks for a better one.
            drop(place);
            match self.handlers.wait(&work, self.slots.free() == 0) {
                Some(place) => self.ahead.0.push_back((work, place)),
                None => self.begin(work),
            }
        }
    }

    /// Gives back what has not begun: no attempt is used up.
    pub(super) fn release_ahead(&mut self) {
        for (work, _) in std::mem::take(&mut self.ahead.0) {
            self.return_unused(&work);
        }
    }

    /// Its run has ended: what it holds is free when that is said.
    pub(super) fn return_ahead(&mut self, lease: &Lease) {
        if let Some(work) = self.ahead.remove(lease) {
            self.return_unused(&work);
        }
    }

    /// Others have it.
    pub(super) fn lose_ahead(&mut self, lease: &Lease) {
        if let Some(work) = self.ahead.remove(lease) {
            self.handlers.forget(&work);
        }
    }
}
