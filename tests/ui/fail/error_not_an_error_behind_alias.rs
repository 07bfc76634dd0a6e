use pgflow::prelude::*;

struct Oops;

type Outcome<T> = std::result::Result<T, Oops>;

mod failures {
    pub type Result<T> = super::Outcome<T>;
}

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> failures::Result<u32> {
        Err(Oops)
    }
}

fn main() {}
