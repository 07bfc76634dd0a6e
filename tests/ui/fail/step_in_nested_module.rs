use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<u32> {
        Ok(1)
    }

    mod later {
        use super::*;

        #[step]
        async fn invoice() -> Result<u32> {
            Ok(1)
        }
    }
}

fn main() {}
