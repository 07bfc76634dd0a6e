//! Conditions on values of many types, none of which can be ruled out.
#![deny(warnings)]

use std::collections::{BTreeMap, HashMap};

use pgflow::prelude::*;

#[data]
pub struct Order {
    owner: Option<Box<Owner>>,
    lines: Vec<Line>,
    notes: HashMap<String, Note>,
    prices: BTreeMap<String, f64>,
    weight: f32,
    status: Status,
    raw: Raw,
    parts: Vec<Order>,
    pair: (u8, String),
}

#[data]
pub struct Owner {
    name: Option<String>,
    orders: Vec<Order>,
}

#[data]
#[serde(rename_all = "camelCase")]
pub struct Line {
    unit_price: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    gift_for: Option<String>,
}

#[data]
#[serde(transparent)]
pub struct Note(String);

#[data]
pub enum Status {
    New,
    Paid { by: String },
}

#[data]
pub struct Holder<T> {
    held: T,
    more: Vec<Holder<T>>,
}

/// Nothing is known of how it is stored.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Raw {
    any: String,
}

#[flow(input = Order)]
mod orders {
    use super::*;

    #[step(only_if = { "owner": null })]
    pub async fn anonymous(run: Order) -> Result<Vec<Line>> {
        Ok(run.lines)
    }

    #[step(only_if = { "owner": { "name": null, "orders": [{ "weight": 1 }] } })]
    pub async fn owned() -> Result<Holder<Line>> {
        Ok(Holder { held: Line { unit_price: 1, gift_for: None }, more: Vec::new() })
    }

    #[step(only_if = { "lines": [{ "unitPrice": 7, "giftFor": "Ann" }, {}], "parts": [{ "parts": [7] }] })]
    pub async fn with_lines() -> Result<()> {
        Ok(())
    }

    #[step(unless = { "notes": { "any": "text" }, "prices": { "eur": null, "usd": 1.5 }, "weight": null })]
    pub async fn with_maps() -> Result<()> {
        Ok(())
    }

    #[step(only_if = { "status": { "Paid": { "by": "card" } }, "raw": { "any": "thing" }, "pair": [1, "a"] })]
    pub async fn unknown() -> Result<()> {
        Ok(())
    }

    #[step(map, depends_on = [anonymous])]
    pub async fn line(item: Line) -> Result<Line> {
        Ok(item)
    }

    #[step(depends_on = [line, owned], only_if = {
        "line": [{ "unitPrice": 7 }],
        "owned": { "held": { "unitPrice": 1 }, "more": [{ "held": 1 }] }
    })]
    pub async fn of_outputs() -> Result<()> {
        Ok(())
    }
}

fn main() {
    let pattern = orders::Flow::shape().steps[0].only_if.clone();
    assert_eq!(pattern.expect("a pattern").to_string(), r#"{"owner":null}"#);
    pgflow::definition::Registry::default().with(orders::Flow).expect("no condition is refused");
}
