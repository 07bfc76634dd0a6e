//! Maps that hold on, listen, or just pass.

use std::time::Duration;

use pgflow::prelude::*;

use super::App;
use crate::harness::What;

/// Tasks that wait until they may go on, and do not care what they are told. There is one attempt.
#[flow(input = Vec<u32>, timeout = 60, max_attempts = 1)]
pub(crate) mod hold {
    use super::*;

    #[step(map)]
    pub(crate) async fn work(item: u32, ctx: Context, app: State<App>) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        while !app.is_open("go") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(item)
    }
}

/// Tasks that wait until they are told to stop.
#[flow(input = Vec<u32>, timeout = 60, max_attempts = 1)]
pub(crate) mod listen {
    use super::*;

    #[step(map)]
    pub(crate) async fn work(item: u32, ctx: Context, app: State<App>) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        ctx.cancelled().await;
        app.journal.note(What::Told, &ctx)?;
        Ok(item)
    }
}

/// Tasks that do nothing.
#[flow(input = Vec<u32>, timeout = 60)]
pub(crate) mod pass {
    use super::*;

    #[step(map)]
    pub(crate) async fn on(item: u32) -> Result<u32> {
        Ok(item)
    }
}
