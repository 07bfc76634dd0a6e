//! No transactions, where there is no SQLite to have them.

use std::future::{Ready, ready};

use pgflow_machine::Settled;
use pgflow_machine::job::JobHold;

use super::Sim;
use crate::backend::BackendError;
use crate::pipeline::{BoxFuture, Opens};
use crate::tx::Tx;

/// A step that asks for one is refused before it runs.
pub(super) fn begin(_: &mut Sim) -> Ready<Option<Tx>> {
    ready(None)
}

pub(super) fn end(_: Tx, _: Option<Settled>) -> Ready<()> {
    ready(())
}

/// A stage that asks for one is refused.
#[derive(Debug, Default)]
pub(in crate::testing) struct Transactions;

impl Opens for Transactions {
    fn open(&self, _: Vec<JobHold>) -> BoxFuture<Result<Option<Tx>, BackendError>> {
        let what = "open a transaction without the feature `sqlite`";
        Box::pin(ready(Err(BackendError::Unsupported { backend: "a test", what })))
    }
}
