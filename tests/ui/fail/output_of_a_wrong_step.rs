use pgflow::prelude::*;

struct Opaque;

#[flow]
mod billing {
    use super::*;

    #[step(depends_on = [nobody])]
    async fn fetch_user() -> Result<Opaque> {
        Ok(Opaque)
    }
}

fn main() {}
