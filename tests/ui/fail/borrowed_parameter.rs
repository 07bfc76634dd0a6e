use pgflow::prelude::*;

#[flow(input = String)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(run: &String) -> Result<u32> {
        Ok(run.len() as u32)
    }

    #[step(depends_on = [fetch_user])]
    async fn invoice(fetch_user: &mut u32) -> Result<u32> {
        Ok(*fetch_user)
    }

    #[step]
    async fn remind(run: &'static str) -> Result<usize> {
        Ok(run.len())
    }
}

fn main() {}
