use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Signup {
    email: String,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(Signup { email }: Signup) -> Result<usize> {
        Ok(email.len())
    }

    #[step]
    async fn ignored(_: Signup) -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
