//! Stored data that newer code may or may not read.

use pgflow::definition::FlowDef;
use pgflow::prelude::*;
use pgflow::testing::{SchemaError, SchemaMode, compare_schemas};
use pgflow_build_tests::{Scratch, commit, git};

// A version, so that both can be in one crate.
#[flow(slug = "sale", version = 1, input = Order)]
mod before {
    use pgflow::prelude::*;

    #[data]
    pub(crate) struct Order {
        id: u32,
        note: Option<String>,
    }

    #[data]
    pub(crate) enum Payment {
        Cash,
        Card { number: String },
    }

    #[step]
    async fn pay(run: Order) -> Result<Vec<Payment>> {
        Ok(vec![Payment::Cash, Payment::Card { number: run.id.to_string() }])
    }

    #[step(depends_on = [pay])]
    async fn tell(pay: Vec<Payment>) -> Result<u32> {
        Ok(u32::try_from(pay.len())?)
    }
}
use before::Order;

#[flow(slug = "sale", input = NewOrder)]
mod now {
    use pgflow::prelude::*;

    #[data]
    pub(crate) struct NewOrder {
        id: u64,
        #[serde(default)]
        gift: bool,
    }

    #[data]
    pub(crate) enum Payment {
        Card { number: u64 },
        Later,
    }

    #[step]
    async fn pay(run: NewOrder) -> Result<Vec<Payment>> {
        Ok(vec![Payment::Later, Payment::Card { number: run.id }])
    }

    #[step(depends_on = [pay])]
    async fn tell(pay: Vec<Payment>) -> Result<u32> {
        Ok(u32::try_from(pay.len())?)
    }
}
use now::NewOrder;

fn compare(scratch: &Scratch, flow: &FlowDef) -> Result<(), SchemaError> {
    compare_schemas(&scratch.dir, flow, SchemaMode::Follow)
}

#[test]
fn each_change_is_told_with_its_place_and_who_can_read_what() {
    let scratch = Scratch::new(&[]);
    compare(&scratch, before::Flow::DEF).expect("written");
    let written = scratch.read("pgflow.schemas.json");
    compare(&scratch, before::Flow::DEF).expect("no change");
    let Err(SchemaError::Changed(changed)) = compare(&scratch, now::Flow::DEF) else {
        panic!("nothing has changed");
    };
    let expected = "\
what runs of flow `sale` store is not what pgflow.schemas.json says
input of the run: readable by new code only
  $.id: its range is wider: 0 to 18446744073709551615
  $.note: field was removed
  $.gift: field was added with a default
output of step `pay`: breaking
  $[]: variant \"Cash\" was removed
  $[].Card.number: type was string, now integer
  $[]: variant \"Later\" was added
note: a worker that cannot read what a run has stored holds its step back
help: let the new type read the old form too, or give the flow another `format = …`: that is a new version, and runs in flight keep the old one
help: `cargo pgflow schema --write` takes it over all the same";
    assert_eq!(changed.to_string(), expected);
    assert!(changed.is_breaking());
    assert_eq!(scratch.read("pgflow.schemas.json"), written, "nothing is written");
}

#[test]
fn what_is_not_committed_yet_is_a_draft() {
    let scratch = Scratch::new(&[]);
    git(&scratch.dir, &["init", "--quiet"]);
    compare(&scratch, before::Flow::DEF).expect("written");
    compare(&scratch, now::Flow::DEF).expect("written anew: nobody has deployed the other one");
    commit(&scratch.dir);
    compare(&scratch, before::Flow::DEF).expect_err("it is committed now");
    compare(&scratch, now::Flow::DEF).expect("no change");
}
