use pgflow::prelude::*;

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user(customer: u32) -> Result<u32> {
        Ok(customer)
    }

    #[step(depends_on = [fetch_user])]
    async fn misspelled(fetch_usr: u32) -> Result<u32> {
        Ok(fetch_usr)
    }

    #[step(depends_on = [fetch_user])]
    async fn renamed(user: u32) -> Result<u32> {
        Ok(user)
    }

    #[step(depends_on = [fetch_user])]
    async fn contextual(fetch_user: u32, context: Context) -> Result<u32> {
        let _ = context;
        Ok(fetch_user)
    }
}

fn main() {}
