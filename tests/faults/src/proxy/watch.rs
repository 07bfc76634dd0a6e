//! Which message is the one to cut after.

use std::collections::BTreeSet;

use super::faults::Faults;
use super::frames::{Frame, Protocol};

/// MySQL's command for a statement in text.
const COM_QUERY: u8 = 3;

/// Which answers to cut.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// To statements that contain this.
    pub(crate) statement: &'static str,
    /// To every so manieth of them.
    pub(crate) every: u32,
}

/// Follows what a client asks on one connection.
#[derive(Debug)]
pub(super) struct Watch {
    protocol: Protocol,
    /// Prepared statements that are meant, by name.
    prepared: BTreeSet<String>,
}

impl Watch {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, prepared: BTreeSet::new() }
    }

    /// Whether this message of the server says that what was asked for is committed. MySQL answers a `COMMIT` with one.
    pub(super) fn is_done(&self, frame: &Frame) -> bool {
        self.protocol == Protocol::MySql || frame.kind() == b'Z'
    }

    /// Whether the answer to what this message asks for is to be cut.
    pub(super) fn is_meant(&mut self, frame: &Frame, faults: &Faults) -> bool {
        let mut texts = frame.texts();
        if self.protocol == Protocol::MySql {
            let is_meant = |sql: String| faults.is_meant(&sql) && faults.is_its_turn();
            return frame.kind() == COM_QUERY && texts.next().is_some_and(is_meant);
        }
        match (frame.kind(), texts.next()) {
            (b'P', Some(name)) => {
                let is_meant = texts.next().is_some_and(|sql| faults.is_meant(&sql));
                if is_meant {
                    self.prepared.insert(name)
                } else {
                    self.prepared.remove(&name)
                };
                false
            }
            (b'B', Some(_portal)) => {
                let name = texts.next().unwrap_or_default();
                self.prepared.contains(&name) && faults.is_its_turn()
            }
            (b'Q', Some(sql)) => faults.is_meant(&sql) && faults.is_its_turn(),
            _ => false,
        }
    }
}
