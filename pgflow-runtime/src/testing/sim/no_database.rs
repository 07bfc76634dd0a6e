//! No transactions, where there is no SQLite to have them.

use std::future::{Ready, ready};

use pgflow_machine::Settled;

use super::Sim;
use crate::tx::Tx;

/// A step that asks for one is refused before it runs.
pub(super) fn begin(_: &mut Sim) -> Ready<Option<Tx>> {
    ready(None)
}

pub(super) fn end(_: Tx, _: Option<Settled>) -> Ready<()> {
    ready(())
}
