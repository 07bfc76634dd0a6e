use pgflow::prelude::*;

struct Mailer;

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn remind(State(mailer): State<Mailer>) -> Result<u32> {
        let _ = mailer;
        Ok(1)
    }
}

fn main() {}
