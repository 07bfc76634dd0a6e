use pgflow::prelude::*;

#[flow(input = Vec<u32>)]
mod billing {
    use super::*;

    // An array never contains an object, so this step could never run.
    #[step(map, only_if = r#"{"paid": true}"#)]
    async fn double(item: u32) -> Result<u32> {
        Ok(item * 2)
    }
}

fn main() {}
