use pgflow::prelude::*;

type Cents = u64;
type Euros = u32;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn total() -> Result<Cents> {
        Ok(100)
    }

    #[step(depends_on = [total])]
    async fn invoice(total: Euros) -> Result<Euros> {
        Ok(total)
    }
}

fn main() {}
