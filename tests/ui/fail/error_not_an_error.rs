use pgflow::prelude::*;

struct Oops;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32, Oops> {
        Err(Oops)
    }

    #[step]
    async fn invoice() -> Result<u32, u8> {
        Err(1)
    }
}

fn main() {}
