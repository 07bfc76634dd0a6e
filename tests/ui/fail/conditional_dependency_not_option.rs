use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Signup {
    paid: bool,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step(only_if = r#"{"paid": true}"#)]
    async fn receipt(run: Signup) -> Result<bool> {
        Ok(run.paid)
    }

    #[step(depends_on = [receipt])]
    async fn send(receipt: bool) -> Result<bool> {
        Ok(receipt)
    }
}

fn main() {}
