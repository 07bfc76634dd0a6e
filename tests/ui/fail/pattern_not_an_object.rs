use pgflow::prelude::*;

#[flow(input = Vec<u32>)]
mod billing {
    use super::*;

    #[step(only_if = "[1]")]
    async fn receipt(run: Vec<u32>) -> Result<usize> {
        Ok(run.len())
    }

    #[step(only_if = true)]
    async fn remind(run: Vec<u32>) -> Result<usize> {
        Ok(run.len())
    }
}

fn main() {}
