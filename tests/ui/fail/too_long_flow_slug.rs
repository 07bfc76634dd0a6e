use pgflow::prelude::*;

// The name of a queue: 47 characters, while a step may have 128.
#[flow]
mod the_flow_that_sends_every_customer_their_invoice {
    use super::*;

    #[step]
    async fn score() -> Result<u32> {
        Ok(1)
    }
}

#[flow(slug = "the_flow_that_reminds_every_customer_of_an_invoice")]
mod reminders {
    use super::*;

    #[step]
    async fn score() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
