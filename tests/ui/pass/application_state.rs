//! State of the application, under any name or taken apart.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{Runner, block_on};

#[derive(Clone)]
pub struct Mailer(&'static str);

#[flow(input = String)]
mod greet {
    use super::*;

    #[step]
    pub async fn write(run: String, State(mailer): State<Mailer>) -> Result<String> {
        Ok(format!("{} {run}", mailer.0))
    }

    #[step(depends_on = [write])]
    pub async fn count(write: String, limit: State<usize>, ctx: Context) -> Result<usize> {
        Ok(write.len().min(*limit) * ctx.attempt() as usize)
    }
}

fn main() {
    let runner = Runner::default().state(Mailer("Hello"));
    block_on(runner.run(greet::Flow, &"Ann".into())).expect_err("the limit is missing");
    let runner = runner.state(5_usize);
    let ran = block_on(runner.run(greet::Flow, &"Ann".into())).expect("it runs");
    assert_eq!(ran.step::<greet::write>().expect("a text").as_deref(), Some("Hello Ann"));
    assert_eq!(ran.output().expect("its output").count, 5);
}
