use pgflow::prelude::*;

#[flow]
mod empty {}

#[flow(input = u32)]
mod without_steps {
    use super::*;

    async fn fetch_user(run: u32) -> Result<u32> {
        Ok(run)
    }
}

fn main() {}
