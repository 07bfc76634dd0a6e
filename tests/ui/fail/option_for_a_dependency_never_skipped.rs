use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(when_exhausted = skip_cascade)]
    async fn fetch_user() -> Result<String> {
        Ok(String::new())
    }

    #[step(depends_on = [fetch_user])]
    async fn invoice(fetch_user: Option<String>) -> Result<usize> {
        Ok(fetch_user.map_or(0, |user| user.len()))
    }
}

fn main() {}
