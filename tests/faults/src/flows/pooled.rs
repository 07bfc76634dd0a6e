//! Handlers that use the application's small pool.

use pgflow::prelude::*;

use super::app::write_in;
use super::{App, Pool};
use crate::harness::What;

/// Handlers that take a connection from the application's pool, for a while.
#[flow(input = Vec<u32>, timeout = 30, max_attempts = 1)]
pub(crate) mod crowd {
    use super::*;

    #[step(map)]
    pub(crate) async fn each(item: u32, ctx: Context, app: State<App>) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        if let Pool::Postgres(pool) = &app.pool {
            sqlx::query("select pg_sleep(0.02)").execute(pool).await?;
        }
        app.write(item, ctx.attempt()).await?;
        Ok(item)
    }
}

/// Steps whose transactions are on connections of the same pool.
#[flow(input = Vec<u32>, timeout = 30, max_attempts = 1)]
pub(crate) mod crowd_tx {
    use super::*;

    #[step(map)]
    pub(crate) async fn each(item: u32, ctx: Context, tx: &mut Tx) -> Result<u32> {
        write_in(tx, item, ctx.attempt()).await?;
        Ok(item)
    }
}
