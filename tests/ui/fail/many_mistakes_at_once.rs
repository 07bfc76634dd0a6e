use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct User {
    id: u32,
}

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step(timeout = 0)]
    async fn fetch_user(run: u32) -> Result<User> {
        Ok(User { id: run })
    }

    #[step(depends_on = [fetch_usr])]
    async fn score(fetch_usr: User) -> Result<u32> {
        Ok(fetch_usr.id)
    }

    #[step(depends_on = [fetch_user, score])]
    async fn invoice(fetch_user: String, score: u64) -> Result<u64> {
        Ok(score + fetch_user.len() as u64)
    }

    #[step(depends_on = [invoice])]
    async fn archive(invoice: u64) -> Result<u64> {
        let wrong: bool = invoice;
        Ok(u64::from(wrong))
    }
}

fn main() {
    // What uses a wrong flow adds no errors of its own.
    println!("{}", <billing::Flow as pgflow::Flow>::SLUG);
}
