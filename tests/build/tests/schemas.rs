//! Stored data that newer code may or may not read.

use pgflow::Flow;
use pgflow::prelude::*;
use pgflow::testing::{SchemaError, compare_schemas};
use pgflow_build_tests::Scratch;
use serde_json::{Map, Value, json};

#[flow(slug = "sale", input = Order)]
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

/// A crate whose committed schemas are those of `F`.
fn committed<F: Flow>() -> Scratch {
    let schemas = F::schemas().expect("schemas");
    let steps: Map<String, Value> = schemas
        .steps
        .into_iter()
        .map(|step| (step.slug.to_owned(), step.output.to_value()))
        .collect();
    let file = json!({ F::SLUG: { "input": schemas.input.to_value(), "steps": steps } });
    Scratch::new(&[("pgflow.schemas.json", &file.to_string())])
}

#[test]
fn the_same_types_are_the_same_schemas() {
    let scratch = committed::<before::Flow>();
    compare_schemas(&scratch.dir, &[before::Flow::DEF]).expect("no change");
}

#[test]
fn each_change_is_told_with_its_place_and_whether_it_can_be_read() {
    let scratch = committed::<before::Flow>();
    let changed = compare_schemas(&scratch.dir, &[now::Flow::DEF]).expect_err("changed");
    assert!(matches!(changed, SchemaError::Changed(_)));
    let expected = "\
pgflow.schemas.json: input of `sale`: $.id: its range is wider: 0 to 18446744073709551615 (readable)
pgflow.schemas.json: input of `sale`: $.note: field was removed (readable)
pgflow.schemas.json: input of `sale`: $.gift: field was added with a default (readable)
pgflow.schemas.json: output of `sale/pay`: $[]: variant \"Cash\" was removed (NOT readable)
pgflow.schemas.json: output of `sale/pay`: $[].Card.number: type was string, now integer (NOT readable)
pgflow.schemas.json: output of `sale/pay`: $[]: variant \"Later\" was added (readable)
help: run `cargo pgflow schema --write` to accept this";
    assert_eq!(changed.to_string(), expected);
}
