//! What people who look after it need.

pub(super) mod checkup;
pub(super) mod flows;
pub(super) mod runs;
pub(super) mod statistics;
pub(super) mod workers;

use super::Sqlite;

pub(super) use workers::{beat, note_end};

pgflow_backend::store::upkeep!(Sqlite, pgflow_backend::store::upkeep::untimed);
