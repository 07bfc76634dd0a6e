//! Two flows with one slug cannot be registered together.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::{RegisterError, Registry};

#[flow(slug = "Billing")]
mod invoices {
    #[step]
    pub async fn score() -> pgflow::Result<u32> {
        Ok(1)
    }
}

#[flow]
mod billing {
    #[step]
    pub async fn score() -> pgflow::Result<u32> {
        Ok(2)
    }
}

fn main() {
    let one = Registry::default().with(billing::Flow).expect("one flow");
    let refused: RegisterError = one.with(invoices::Flow).expect_err("queues ignore case");
    assert!(refused.to_string().contains("two flows"), "{refused}");
}
