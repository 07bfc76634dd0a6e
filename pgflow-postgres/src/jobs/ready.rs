//! Hints about jobs that a statement has freed: those that waited for what ended, and the next in line for a key.

use std::collections::BTreeSet;

use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::error::translate;
use crate::open::Postgres;
use crate::waits::asks_to_wake;
use crate::wake::Bell;
use pgflow_backend::backend::BackendError;
use pgflow_backend::store::Ready;

/// More needs at once are told as "everything".
const MOST: usize = 64;

/// What a transaction has noted for after its commit, as columns of its statement: about them, and whether waits can go on
/// (see `asks_to_wake`); and what time it is.
macro_rules! ready_needs {
    () => {
        "nullif(current_setting('pgflow.ready_needs', true), '')::text[] as ready_needs, \
         current_setting('pgflow.wakes', true) as wakes, (extract(epoch from clock_timestamp()) * 1000000)::int8 as now_at"
    };
}
pub(crate) use ready_needs;

/// What an answer with these columns says is to be told after the commit.
pub(crate) fn ready_of(rows: &[PgRow]) -> Result<Ready, BackendError> {
    let Some(row) = rows.first() else { return Ok(Ready::default()) };
    let needs: Option<Vec<String>> = row.try_get("ready_needs").map_err(translate)?;
    let needs = needs.unwrap_or_default().into_iter().collect();
    Ok(Ready { needs, waits: asks_to_wake(rows), ..Ready::default() })
}

impl Postgres {
    /// Tells workers of what an answer with that column says may be had now. All of its rows say the same.
    pub(crate) fn ring_for_ready(&self, rows: &[PgRow]) -> Result<(), BackendError> {
        self.ring_for_needs(&ready_of(rows)?.needs);
        Ok(())
    }

    pub(crate) fn ring_for_needs(&self, needs: &BTreeSet<String>) {
        self.ring_each(needs, Bell::ring_need);
    }

    /// The same for those who wait for resources and rates.
    pub(crate) fn ring_for_permits(&self, slugs: &BTreeSet<String>) {
        self.ring_each(slugs, Bell::ring_permit);
    }

    fn ring_each(&self, names: &BTreeSet<String>, ring: impl Fn(&Bell, &str)) {
        if names.len() > MOST {
            self.bell.ring_all();
        } else {
            for name in names {
                ring(&self.bell, name);
            }
        }
    }
}
