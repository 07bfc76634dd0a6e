//! A unit test calls a step like any function.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::block_on;

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    pub(super) async fn fetch(run: u32) -> Result<u32> {
        Ok(run + 1)
    }

    #[step(depends_on = [fetch])]
    pub(super) async fn invoice(fetch: u32, ctx: Context) -> Result<String> {
        Ok(format!("{fetch} at attempt {}", ctx.attempt()))
    }
}

fn main() -> Result<()> {
    block_on(check())
}

async fn check() -> Result<()> {
    let fetched = billing::fetch(1).await?;
    let invoice = billing::invoice(fetched, Context::for_test()).await?;
    assert_eq!(invoice, "2 at attempt 1");
    Ok(())
}
