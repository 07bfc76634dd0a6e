//! What people who look after it need.

mod checkup;
mod flows;
mod runs;
mod statistics;
mod workers;

use super::MySql;
use super::connections::PooledConnection;
use super::error::Result;
use super::session::MySqlSession;

pub(super) use workers::{beat, note_end};

pgflow_backend::store::upkeep!(MySql);

impl MySql {
    /// To read.
    async fn reading(&self) -> Result<MySqlSession<PooledConnection>> {
        MySqlSession::begin(self.connections.read().await?, &self.known, false).await
    }
}
