use pgflow::prelude::*;

mod other {
    pub enum Result<T> {
        Fine(T),
    }
}

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> other::Result<u32> {
        other::Result::Fine(1)
    }
}

fn main() {}
