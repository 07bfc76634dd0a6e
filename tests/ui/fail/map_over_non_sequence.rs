use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    id: u32,
}

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(run: u32) -> Result<User> {
        Ok(User { id: run })
    }

    #[step(map, depends_on = [fetch_user])]
    async fn remind(item: User) -> Result<u32> {
        Ok(item.id)
    }

    #[step]
    async fn name() -> Result<String> {
        Ok(String::new())
    }

    #[step(map, depends_on = [name])]
    async fn letter(item: char) -> Result<bool> {
        Ok(item.is_alphabetic())
    }
}

fn main() {}
