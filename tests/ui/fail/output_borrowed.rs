use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Borrowing<'a> {
    name: &'a str,
}

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn name() -> Result<&'static str> {
        Ok("name")
    }

    #[step]
    async fn inside() -> Result<Borrowing<'static>> {
        Ok(Borrowing { name: "name" })
    }
}

fn main() {}
