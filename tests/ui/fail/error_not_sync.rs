use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32, Box<dyn std::error::Error>> {
        Err("no such user".into())
    }
}

fn main() {}
