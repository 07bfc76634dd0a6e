//! Which message is the one to cut after.

use std::collections::BTreeSet;

use super::faults::Faults;
use super::frames::Frame;

/// Which answers to cut.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// To statements that contain this.
    pub(crate) statement: &'static str,
    /// To every so manieth of them.
    pub(crate) every: u32,
}

/// Follows what a client asks on one connection.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Prepared statements that are meant, by name.
    prepared: BTreeSet<String>,
}

impl Watch {
    /// Whether the answer to what this message asks for is to be cut.
    pub(super) fn is_meant(&mut self, frame: &Frame, faults: &Faults) -> bool {
        let mut texts = frame.texts();
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
