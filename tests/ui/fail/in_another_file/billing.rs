use pgflow::prelude::*;

#[step]
async fn score() -> Result<u32> {
    Ok(1)
}
