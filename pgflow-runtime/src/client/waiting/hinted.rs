//! What it is worth looking at.

use std::collections::HashSet;
use std::sync::Arc;

use crate::backend::{Topic, Wake};

/// What hints have come since the last look.
#[derive(Debug, Default)]
pub(super) struct Hinted {
    flows: HashSet<Arc<str>>,
    all: bool,
}

impl Hinted {
    /// It may be anything.
    pub(super) fn all() -> Self {
        Self { flows: HashSet::new(), all: true }
    }

    /// Takes a hint, if it is about one of these flows.
    pub(super) fn add(&mut self, wake: Wake, waited: &HashSet<Arc<str>>) {
        match wake {
            Wake::Gap => self.all = true,
            Wake::Topic(Topic::Queue(flow)) if waited.contains(&flow) => {
                self.flows.insert(flow);
            }
            Wake::Topic(_) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.all && self.flows.is_empty()
    }

    pub(super) fn is_about(&self, flow: Option<&Arc<str>>) -> bool {
        self.all || flow.is_some_and(|flow| self.flows.contains(flow))
    }
}
