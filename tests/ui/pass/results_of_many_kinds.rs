//! Errors of the user's choice, and the spellings of `Result`.
#![deny(warnings)]

use std::error::Error;
use std::{fmt, io};

use pgflow::prelude::*;
use pgflow::testing::block_on;

#[derive(Debug)]
pub struct OutOfStock;

impl fmt::Display for OutOfStock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of stock")
    }
}

impl Error for OutOfStock {}

#[flow]
mod shop {
    use super::*;

    #[step]
    pub async fn ours() -> pgflow::Result<u8> {
        Ok(std::str::from_utf8(b"1")?.parse()?)
    }

    #[step]
    pub async fn of_std() -> io::Result<u8> {
        Ok(1)
    }

    #[step]
    pub async fn own() -> std::result::Result<u8, OutOfStock> {
        Err(OutOfStock)
    }

    #[step]
    pub async fn boxed() -> Result<u8, Box<dyn Error + Send + Sync>> {
        Err("out of stock".into())
    }

    #[step]
    pub async fn unnamed() -> Result<u8, impl Error> {
        "many".parse()
    }

    #[step]
    pub async fn of_prelude() -> Result<u8, OutOfStock> {
        Err(OutOfStock)
    }
}

/// A `Result` under another name.
type Fallible<T> = std::result::Result<T, OutOfStock>;

/// One that says what it is about as well.
type Counted = std::result::Result<u8, OutOfStock>;

#[flow(input = u8)]
mod aliased {
    use super::*;
    use std::result::Result as StdResult;

    #[step]
    pub async fn under_an_alias(run: u8) -> Fallible<u8> {
        if run == 1 { Err(OutOfStock) } else { Ok(run) }
    }

    #[step]
    pub async fn renamed_by_use(run: u8) -> StdResult<u8, OutOfStock> {
        if run == 2 { Err(OutOfStock) } else { Ok(run) }
    }

    #[step]
    pub async fn nothing_to_see(run: u8) -> Counted {
        if run == 3 { Err(OutOfStock) } else { Ok(run) }
    }

    #[step(depends_on = [under_an_alias, renamed_by_use, nothing_to_see])]
    pub async fn sum(under_an_alias: u8, renamed_by_use: u8, nothing_to_see: u8) -> Fallible<u8> {
        Ok(under_an_alias + renamed_by_use + nothing_to_see)
    }
}

fn main() {
    block_on(check());
    block_on(check_aliases());
}

/// An `Err` fails the step, under whatever name, and is no output of it.
async fn check_aliases() {
    let run = pgflow::testing::run(aliased::Flow, 0).await.expect("all is in stock");
    assert_eq!(run.output().expect("it has one").sum, 0);
    for (input, step) in [(1, "under_an_alias"), (2, "renamed_by_use"), (3, "nothing_to_see")] {
        let failed = pgflow::testing::run(aliased::Flow, input).await.expect_err("it fails");
        let told = failed.to_string();
        assert!(told.contains(step) && told.contains("out of stock"), "{told}");
    }
}

async fn check() {
    assert_eq!(shop::ours().await.expect("a number"), 1);
    assert_eq!(shop::own().await.expect_err("an error").to_string(), "out of stock");
    assert!(shop::unnamed().await.is_err());
    assert_eq!(shop::of_prelude().await.expect_err("an error").to_string(), "out of stock");
}
