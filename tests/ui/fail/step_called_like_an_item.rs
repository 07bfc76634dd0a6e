use pgflow::prelude::*;

mod website {
    pub fn fetch() -> u32 {
        1
    }
}

#[flow]
mod billing {
    use super::website;
    use super::{website as links, *};

    #[step]
    async fn website() -> Result<u32> {
        Ok(website::fetch())
    }

    #[step(depends_on = [website])]
    async fn links(website: u32) -> Result<u32> {
        Ok(website + links::fetch())
    }

    #[step(depends_on = [links])]
    async fn parts(links: u32) -> Result<u32> {
        Ok(links)
    }

    mod parts {}
}

fn main() {}
