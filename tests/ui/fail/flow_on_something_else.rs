use pgflow::prelude::*;

#[flow]
struct Billing;

#[flow(input = u32)]
async fn billing() {}

#[flow]
impl Billing {}

fn main() {}
