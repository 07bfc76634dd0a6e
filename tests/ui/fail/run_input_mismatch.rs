use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    id: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Signup {
    email: String,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(run: User) -> Result<User> {
        Ok(run)
    }

    #[step(depends_on = [fetch_user])]
    async fn invoice(fetch_user: User, run: String) -> Result<usize> {
        Ok(fetch_user.id as usize + run.len())
    }
}

fn main() {}
