//! What people who look after it need.

mod checkup;
mod flows;
mod runs;
mod statistics;
mod workers;

use tokio::time::timeout;

use super::MySql;
use super::connections::PooledConnection;
use super::error::{Error, Result, timed_out};
use super::session::MySqlSession;

pub(super) use workers::{beat, note_end};

pgflow_backend::store::upkeep!(MySql, in_time);

/// No call but `check` takes longer than the server may take to answer.
async fn in_time<T, E: From<Error>>(
    mysql: &MySql,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let limit = mysql.connections.answer_within();
    let late = |_| Err(Error::from(timed_out("a call", limit)).into());
    timeout(limit, call).await.unwrap_or_else(late)
}

impl MySql {
    /// To read.
    async fn reading(&self) -> Result<MySqlSession<PooledConnection>> {
        let connection = self.connections.read().await?;
        MySqlSession::begin(connection, &self.known, false, self.connections.answer_within()).await
    }
}
