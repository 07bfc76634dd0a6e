use pgflow::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct ReadOnly;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<ReadOnly> {
        Ok(ReadOnly)
    }

    #[step(depends_on = [fetch_user])]
    async fn invoice(fetch_user: ReadOnly) -> Result<u32> {
        let _ = fetch_user;
        Ok(1)
    }
}

fn main() {}
