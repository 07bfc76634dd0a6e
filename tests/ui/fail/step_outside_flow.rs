use pgflow::prelude::*;

#[step]
async fn fetch_user() -> Result<u32> {
    Ok(1)
}

#[pgflow::step(depends_on = [fetch_user])]
async fn invoice(fetch_user: u32) -> Result<u32> {
    Ok(fetch_user)
}

fn main() {}
