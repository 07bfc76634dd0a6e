//! `#[data]` with fields that are stored by functions of the user's own.
#![deny(warnings)]

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::testing::block_on;

/// Stores a duration as its seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(time.as_secs())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_secs)
    }
}

/// Not `Serialize`, `Deserialize` or `JsonSchema`: only the functions know how it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Celsius(i16);

fn read_celsius<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Celsius, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(Celsius)
}

fn write_celsius<S: serde::Serializer>(of: &Celsius, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i16(of.0)
}

#[data]
#[derive(Clone)]
pub struct Oven {
    name: String,
    #[serde(with = "seconds")]
    #[schemars(with = "u64")]
    time: Duration,
    #[serde(deserialize_with = "read_celsius", serialize_with = "write_celsius")]
    #[schemars(with = "i16")]
    heat: Celsius,
}

/// Nothing is said about the schema of `time`: it allows anything.
#[data]
pub struct Undescribed {
    #[serde(with = "seconds")]
    time: Duration,
}

#[flow(input = Oven)]
mod bakery {
    use super::*;

    #[step(only_if = { "name": "left" })]
    pub async fn heat(run: Oven) -> Result<Oven> {
        Ok(run)
    }

    #[step(depends_on = [heat])]
    pub async fn bake(heat: Option<Oven>) -> Result<Undescribed> {
        let oven = heat.ok_or("it is cold")?;
        assert_eq!(oven.heat, Celsius(180));
        Ok(Undescribed { time: oven.time })
    }
}

fn main() {
    let oven = Oven { name: "left".into(), time: Duration::from_secs(90), heat: Celsius(180) };
    let stored = serde_json::to_value(&oven).expect("it is stored");
    assert_eq!(stored, serde_json::json!({ "name": "left", "time": 90, "heat": 180 }));
    let run = block_on(pgflow::testing::run(bakery::Flow, oven)).expect("it bakes");
    assert_eq!(run.output().expect("it has one").bake.time, Duration::from_secs(90));

    let schema = schemars::schema_for!(Oven).to_value();
    assert_eq!(schema["properties"]["time"]["format"], "uint64");
    assert_eq!(schema["properties"]["heat"]["type"], "integer");
    let open = schemars::schema_for!(Undescribed).to_value();
    assert_eq!(open["properties"]["time"], serde_json::json!(true), "{open}");
}
