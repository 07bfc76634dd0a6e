use pgflow::prelude::*;

struct Opaque;

#[flow(schema = false)]
mod billing {
    use super::*;

    #[step]
    async fn list() -> Result<Vec<Option<Opaque>>> {
        Ok(vec![None])
    }
}

fn main() {}
