use pgflow::prelude::*;

#[flow]
#[path = "in_another_file/billing.rs"]
mod billing;

fn main() {}
