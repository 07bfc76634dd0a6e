use pgflow::prelude::*;

#[data]
struct Signup {
    plan: Plan,
}

#[data]
struct Plan {
    name: String,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step(only_if = r#"{"plann": {"name": "pro"}}"#)]
    async fn receipt(run: Signup) -> Result<String> {
        Ok(run.plan.name)
    }

    #[step(unless = { "plan": { "nam": "pro" } })]
    async fn remind(run: Signup) -> Result<String> {
        Ok(run.plan.name)
    }
}

fn main() {}
