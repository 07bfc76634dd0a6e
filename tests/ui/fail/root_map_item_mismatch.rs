use pgflow::prelude::*;

#[flow(input = Vec<u64>)]
mod billing {
    use super::*;

    #[step(map)]
    async fn greet(item: String) -> Result<String> {
        Ok(format!("hello {item}"))
    }
}

fn main() {}
