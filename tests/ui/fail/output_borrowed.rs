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

    #[step(map, depends_on = [names])]
    async fn first(item: String) -> Result<Option<&'static [u8]>> {
        let _ = item;
        Ok(None)
    }

    #[step(depends_on = [name])]
    async fn names(name: String) -> Result<Vec<String>> {
        Ok(vec![name])
    }
}

fn main() {}
