use pgflow::prelude::*;

#[flow(input = Vec<u32>)]
mod billing {
    use super::*;

    #[step(map, when_exhausted = skip)]
    async fn double(item: u32) -> Result<u32> {
        Ok(item * 2)
    }

    #[step(depends_on = [double])]
    async fn total(double: Vec<u32>) -> Result<u32> {
        Ok(double.iter().sum())
    }
}

fn main() {}
