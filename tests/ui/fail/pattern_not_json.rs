use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Signup {
    paid: bool,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step(only_if = "{paid: true}")]
    async fn receipt(run: Signup) -> Result<bool> {
        Ok(run.paid)
    }

    #[step(unless = r#"{"paid": true"#)]
    async fn remind(run: Signup) -> Result<bool> {
        Ok(run.paid)
    }

    #[step(only_if = { paid: true })]
    async fn unquoted(run: Signup) -> Result<bool> {
        Ok(run.paid)
    }

    #[step(only_if = { "paid": yes })]
    async fn worded(run: Signup) -> Result<bool> {
        Ok(run.paid)
    }
}

fn main() {}
