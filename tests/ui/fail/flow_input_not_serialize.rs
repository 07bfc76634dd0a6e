use pgflow::prelude::*;

struct Opaque;

#[flow(input = Opaque)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(run: Opaque) -> Result<u32> {
        let _ = run;
        Ok(1)
    }
}

fn main() {}
