use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;

    #[step(when_exhausted = skip)]
    async fn fetch_user() -> Result<String> {
        Ok(String::new())
    }

    #[step(depends_on = [fetch_user as user])]
    async fn invoice(user: String) -> Result<usize> {
        Ok(user.len())
    }

    #[step(depends_on = [fetch_user])]
    async fn remind(fetch_user: Option<u64>) -> Result<bool> {
        Ok(fetch_user.is_some())
    }
}

fn main() {}
