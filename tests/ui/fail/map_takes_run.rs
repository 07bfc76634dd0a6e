use pgflow::prelude::*;

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn users(run: u32) -> Result<Vec<u32>> {
        Ok(vec![run])
    }

    // A task of a map gets its element alone.
    #[step(map, depends_on = [users])]
    async fn remind(item: u32, run: String) -> Result<usize> {
        Ok(item as usize + run.len())
    }
}

fn main() {}
