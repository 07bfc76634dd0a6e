use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn charge(tx: u32) -> Result<u32> {
        Ok(tx)
    }
}

fn main() {}
