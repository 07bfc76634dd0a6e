//! What is found out when a program starts.

use pgflow::definition::{RegisterError, Registry};
use pgflow::prelude::*;
use pgflow::testing::{self, RunError, Runner};

mod derived {
    use pgflow::prelude::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct User {
        pub(super) name: String,
    }
}

/// The compiler cannot see into `User`, whose derives are not ours; its schema can be.
#[flow(input = derived::User)]
mod misspelt {
    use pgflow::prelude::*;

    #[step(only_if = { "nmae": "Ann" })]
    pub(super) async fn greet(run: super::derived::User) -> Result<String> {
        Ok(run.name)
    }
}

#[test]
fn a_condition_on_a_field_that_is_not_there_is_refused() {
    let refused = Registry::default().with(misspelt::Flow).expect_err("no such field");
    assert_eq!(
        refused.to_string(),
        "`only_if` of step `greet` in flow `misspelt` names `nmae`, which is not there"
    );
    let user = derived::User { name: "Ann".to_owned() };
    let run = testing::block_on(testing::run(misspelt::Flow, user));
    assert!(matches!(run, Err(RunError::Register(error)) if error == refused));
}

// A version of its own, or the compiler would refuse the second.
#[flow(slug = "Twice", version = 1)]
mod first {
    #[step]
    async fn only() -> pgflow::Result<u8> {
        Ok(1)
    }
}

#[flow(slug = "twice")]
mod second {
    #[step]
    async fn only() -> pgflow::Result<u8> {
        Ok(2)
    }
}

#[test]
fn two_flows_cannot_share_a_slug_even_in_another_case() {
    let both = Registry::default().with(first::Flow).and_then(|one| one.with(second::Flow));
    assert_eq!(both.expect_err("two"), RegisterError::DuplicateSlug { slug: "twice" });
}

#[flow]
mod stateful {
    use pgflow::prelude::*;

    #[step]
    pub(super) async fn count(State(start): State<u32>, step: State<u8>) -> Result<u32> {
        Ok(start + u32::from(*step))
    }
}

#[test]
fn state_comes_from_the_program_and_is_missed_before_the_first_step() -> Result<()> {
    let runner = Runner::default().state(40_u32);
    let missing = testing::block_on(runner.run(stateful::Flow, ())).expect_err("no u8");
    assert_eq!(
        missing.to_string(),
        "step `count` in flow `stateful` takes `State<u8>`, which was not given"
    );
    let run = testing::block_on(runner.state(2_u8).run(stateful::Flow, ()))?;
    assert_eq!(run.output()?.count, 42);
    Ok(())
}

#[test]
fn the_output_prints_as_json() -> Result<()> {
    let runner = Runner::default().state(1_u32).state(1_u8);
    let output = testing::block_on(runner.run(stateful::Flow, ()))?.output()?;
    assert_eq!(format!("{output:?}"), r#"{"count":2}"#);
    Ok(())
}
