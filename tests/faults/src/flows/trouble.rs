//! Steps for databases in trouble. There is one attempt where none may be used up.

use std::time::Duration;

use pgflow::prelude::*;

use super::App;
use super::app::{write_in, write_large_in};
use crate::harness::What;

/// A mail each: it must not be sent twice. What is returned takes room.
#[flow(input = Vec<u32>, timeout = 8, max_attempts = 1)]
pub(crate) mod mail {
    use super::*;

    #[step(map)]
    pub(crate) async fn send(item: u32, ctx: Context, app: State<App>) -> Result<String> {
        app.journal.note(What::Entered, &ctx)?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(noise(item, 8 << 10))
    }
}

/// A row each, which takes room.
#[flow(input = Vec<u32>, timeout = 8, max_attempts = 1)]
pub(crate) mod ship {
    use super::*;

    #[step(map)]
    pub(crate) async fn one(item: u32, ctx: Context, tx: &mut Tx) -> Result<u32> {
        write_large_in(tx, item, ctx.attempt(), &noise(item, 64 << 10)).await?;
        Ok(item)
    }
}

/// Steps whose transaction can never be committed.
#[flow(input = u32, timeout = 30, base_delay = 1, max_attempts = 2)]
pub(crate) mod promise {
    use super::*;

    #[step]
    pub(crate) async fn keep(run: u32, ctx: Context, app: State<App>, tx: &mut Tx) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        write_in(tx, run, ctx.attempt()).await?;
        Ok(run)
    }
}

/// Outputs of the largest kind.
#[flow(input = u32, timeout = 120, max_attempts = 1)]
pub(crate) mod bulky {
    use super::*;

    #[step]
    pub(crate) async fn pile(run: u32, ctx: Context, app: State<App>) -> Result<String> {
        app.journal.note(What::Entered, &ctx)?;
        while !app.is_open("go") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok("x".repeat(run as usize))
    }
}

/// Steps that block their thread for so many milliseconds.
#[flow(input = Vec<u32>, timeout = 3, max_attempts = 1)]
pub(crate) mod block {
    use super::*;

    #[step(map)]
    pub(crate) async fn work(item: u32, ctx: Context, app: State<App>) -> Result<u32> {
        app.journal.note(What::Entered, &ctx)?;
        std::thread::sleep(Duration::from_millis(item.into()));
        Ok(item)
    }
}

/// Text that no database can make much smaller.
fn noise(seed: u32, bytes: usize) -> String {
    let mut state = u64::from(seed) + 1;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap_or(0))
    };
    std::iter::repeat_with(next).filter(|c| !matches!(c, '"' | '\\')).take(bytes).collect()
}
