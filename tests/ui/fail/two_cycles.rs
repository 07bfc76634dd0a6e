use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(depends_on = [egg])]
    async fn chicken() -> Result<()> {
        Ok(())
    }

    #[step(depends_on = [chicken])]
    async fn egg() -> Result<()> {
        Ok(())
    }

    #[step(depends_on = [evening])]
    async fn morning() -> Result<()> {
        Ok(())
    }

    #[step(depends_on = [morning])]
    async fn evening() -> Result<()> {
        Ok(())
    }
}

fn main() {}
