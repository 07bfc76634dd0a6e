use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    id: u32,
}

#[flow(input = User)]
mod billing {
    use super::*;

    #[step(map)]
    async fn greet(item: String) -> Result<String> {
        Ok(format!("hello {item}"))
    }
}

fn main() {}
