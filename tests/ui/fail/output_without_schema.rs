use pgflow::prelude::*;

#[derive(Serialize, Deserialize)]
struct Plain;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<Plain> {
        Ok(Plain)
    }
}

fn main() {}
