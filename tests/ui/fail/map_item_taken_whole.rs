use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    id: u32,
}

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn list_users(run: u32) -> Result<Vec<User>> {
        Ok(vec![User { id: run }])
    }

    #[step(map, depends_on = [list_users])]
    async fn remind(item: Vec<User>) -> Result<usize> {
        Ok(item.len())
    }
}

fn main() {}
