use pgflow::prelude::*;

#[data]
struct User {
    paid: bool,
}

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn fetch_user() -> Result<User> {
        Ok(User { paid: true })
    }

    #[step(depends_on = [fetch_user], only_if = r#"{"fetch_usr": {"paid": true}}"#)]
    async fn receipt() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [fetch_user], only_if = r#"{"fetch_user": {"payed": true}}"#)]
    async fn remind() -> Result<u32> {
        Ok(1)
    }
}

fn main() {}
