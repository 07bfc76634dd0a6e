use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(depends_on = [egg])]
    async fn chicken(egg: u32) -> Result<u32> {
        Ok(egg)
    }

    #[step(depends_on = [chicken])]
    async fn egg(chicken: u32) -> Result<u32> {
        Ok(chicken)
    }
}

fn main() {}
