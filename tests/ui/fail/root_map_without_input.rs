use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(map)]
    async fn greet(item: String) -> Result<String> {
        Ok(format!("hello {item}"))
    }
}

fn main() {}
