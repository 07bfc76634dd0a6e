use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    id: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Account {
    id: u32,
}

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(run: u32) -> Result<User> {
        Ok(User { id: run })
    }

    #[step(depends_on = [fetch_user])]
    async fn invoice(fetch_user: Account) -> Result<u32> {
        Ok(fetch_user.id)
    }

    #[step(depends_on = [fetch_user as user])]
    async fn remind(user: Vec<User>, ctx: Context) -> Result<usize> {
        let _ = ctx;
        Ok(user.len())
    }
}

fn main() {}
