use pgflow::prelude::*;

#[data]
struct Signup {
    plan: Option<Plan>,
    tags: Vec<String>,
    friends: Vec<Friend>,
}

#[data]
struct Plan {
    name: String,
    seats: u32,
}

#[data]
struct Friend {
    name: String,
    of: Vec<Signup>,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step(only_if = { "plan": { "nam": "pro" } })]
    async fn behind_an_option(run: Signup) -> Result<Vec<Friend>> {
        Ok(run.friends)
    }

    #[step(only_if = { "tags": "vip", "plan": { "seats": "3" } })]
    async fn of_another_kind(run: Signup) -> Result<usize> {
        Ok(run.tags.len())
    }

    #[step(depends_on = [behind_an_option], only_if = { "behind_an_option": { "name": "Ann" } })]
    async fn an_array_is_no_object() -> Result<()> {
        Ok(())
    }

    #[step(depends_on = [behind_an_option], unless = { "behind_an_option": [{ "of": [7], "name": null, "age": 7 }] })]
    async fn in_an_array() -> Result<()> {
        Ok(())
    }

    #[step(map, depends_on = [behind_an_option])]
    async fn each(item: Friend) -> Result<Friend> {
        Ok(item)
    }

    #[step(depends_on = [each, of_another_kind], only_if = r#"{ "each": [{ "nam": "Ann" }], "of_another_kind": true }"#)]
    async fn of_a_map() -> Result<()> {
        Ok(())
    }
}

#[flow(input = Vec<u32>)]
mod numbers {
    use super::*;

    #[step(only_if = { "plan": "pro" })]
    async fn count(run: Vec<u32>) -> Result<usize> {
        Ok(run.len())
    }
}

fn main() {}
