use pgflow::prelude::*;

struct Opaque;

#[flow(input = Vec<u32>, schema = false)]
mod billing {
    use super::*;

    #[step(map)]
    async fn each(item: u32) -> Result<Opaque> {
        let _ = item;
        Ok(Opaque)
    }

    #[step(depends_on = [each])]
    async fn total(each: Vec<Opaque>) -> Result<usize> {
        Ok(each.len())
    }
}

fn main() {}
