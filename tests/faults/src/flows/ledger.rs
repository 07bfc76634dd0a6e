//! Tasks with an effect in the database: within the transaction that records them, and without.

use std::time::Duration;

use pgflow::prelude::*;

use super::App;
use super::app::write_in;
use crate::harness::What;

/// With `tx`: effects happen exactly once.
#[flow(input = Vec<u32>, timeout = 1, base_delay = 1, max_attempts = 99)]
pub(crate) mod book {
    use super::*;

    #[step(map)]
    pub(crate) async fn one(item: u32, ctx: Context, app: State<App>, tx: &mut Tx) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        write_in(tx, item, ctx.attempt()).await?;
        pause(item).await;
        Ok(item)
    }
}

/// The control: the effect is there before the step is recorded.
#[flow(input = Vec<u32>, timeout = 1, base_delay = 1, max_attempts = 99)]
pub(crate) mod jot {
    use super::*;

    #[step(map)]
    pub(crate) async fn one(item: u32, ctx: Context, app: State<App>) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        app.write(item, ctx.attempt()).await?;
        pause(item).await;
        Ok(item)
    }
}

/// Time to be killed in.
async fn pause(item: u32) {
    tokio::time::sleep(Duration::from_millis(u64::from(item % 8))).await;
}
