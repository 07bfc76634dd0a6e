//! Items of the user's own with names that generated code might use.
#![deny(warnings)]
#![allow(dead_code)]

use pgflow::prelude::{Deserialize, JsonSchema, Serialize, flow};

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    pub id: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Input;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Any;

#[flow(input = Flow)]
mod billing {
    use super::{Any, Flow, Input};

    pub type Result<T> = ::std::result::Result<T, Failure>;

    #[derive(Debug)]
    pub struct Failure;

    impl ::std::fmt::Display for Failure {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("failed")
        }
    }

    impl ::std::error::Error for Failure {}

    pub fn step() -> u32 {
        1
    }

    pub struct Step;
    pub struct Context;
    pub struct Option;
    pub struct Vec;
    pub struct String;
    pub struct Box;
    pub struct Output;
    pub struct Send;
    pub mod std {}
    pub mod core {}
    pub mod pgflow {}
    pub mod serde {}
    pub fn drop() {}
    pub enum Never {
        Ok,
        Err,
        Some,
        None,
    }

    #[step]
    pub async fn fetch(run: Flow) -> Result<u32> {
        ::std::result::Result::Ok(run.id + step())
    }

    #[step(depends_on = [fetch])]
    pub async fn flow(fetch: u32) -> Result<Input> {
        let _ = fetch;
        ::std::result::Result::Ok(Input)
    }

    #[step(depends_on = [flow])]
    pub async fn any(flow: Input) -> Result<Any> {
        let _ = flow;
        ::std::result::Result::Ok(Any)
    }
}

fn main() {}
