//! Everything that is not a step stays as it was.
#![deny(warnings, missing_docs, unreachable_pub)]

use pgflow::prelude::*;
use pgflow::testing::block_on;

/// A flow with company.
#[flow(input = u32)]
#[allow(clippy::module_inception)]
pub mod billing {
    #![doc = "Inner attributes stay first."]

    use super::*;

    const LIMIT: u32 = 10;

    /// Not a step.
    #[must_use]
    pub fn helper<T: Into<u32>>(value: T) -> u32 {
        value.into().min(LIMIT)
    }

    macro_rules! plus_one {
        ($value:expr) => {
            $value + 1
        };
    }

    /// A step.
    #[step]
    #[must_use = "it was work"]
    #[inline]
    pub async fn fetch(mut run: u32) -> Result<u32> {
        run = plus_one!(run);
        Ok(helper(run))
    }

    #[cfg(any())]
    compile_error!("not compiled");

    mod details {
        pub(super) fn double(value: u32) -> u32 {
            value * 2
        }
    }

    /// Another; its context is not used.
    #[step(depends_on = [fetch])]
    pub async fn double(fetch: u32, _ctx: Context) -> Result<u32> {
        Ok(details::double(fetch))
    }
}

fn main() -> Result<()> {
    block_on(check())
}

async fn check() -> Result<()> {
    assert_eq!(billing::fetch(41).await?, 10);
    assert_eq!(billing::double(3, Context::for_test()).await?, 6);
    Ok(())
}
