use pgflow::prelude::*;

#[flow(input = Vec<u64>)]
mod billing {
    use super::*;

    #[step(map)]
    async fn double(item: u64) -> Result<u64> {
        Ok(item * 2)
    }

    #[step(depends_on = [double])]
    async fn total(double: u64) -> Result<u64> {
        Ok(double)
    }

    #[step(depends_on = [double as doubles])]
    async fn longest(doubles: Vec<String>) -> Result<usize> {
        Ok(doubles.len())
    }
}

fn main() {}
