use pgflow::prelude::*;

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn begin(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [begin, archive])]
    async fn fetch_user(begin: u32, archive: u32) -> Result<u32> {
        Ok(begin + archive)
    }

    #[step(depends_on = [fetch_user])]
    async fn score(fetch_user: u32) -> Result<u32> {
        Ok(fetch_user)
    }

    #[step(depends_on = [score])]
    async fn invoice(score: u32) -> Result<u32> {
        Ok(score)
    }

    #[step(depends_on = [invoice])]
    async fn archive(invoice: u32) -> Result<u32> {
        Ok(invoice)
    }

    // Waits for the ring, but is not part of it.
    #[step(depends_on = [archive])]
    async fn report(archive: u32) -> Result<u32> {
        Ok(archive)
    }
}

fn main() {}
