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

fn main() {
    block_on(check());
}

async fn check() {
    assert_eq!(shop::ours().await.expect("a number"), 1);
    assert_eq!(shop::own().await.expect_err("an error").to_string(), "out of stock");
    assert!(shop::unnamed().await.is_err());
    assert_eq!(shop::of_prelude().await.expect_err("an error").to_string(), "out of stock");
}
