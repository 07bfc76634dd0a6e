use pgflow::prelude::*;

#[derive(Serialize, JsonSchema)]
struct WriteOnly;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<WriteOnly> {
        Ok(WriteOnly)
    }

    #[step(depends_on = [fetch_user])]
    async fn invoice(fetch_user: WriteOnly) -> Result<u32> {
        let _ = fetch_user;
        Ok(1)
    }
}

fn main() {}
