//! A `macro_rules!` that writes flows.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

macro_rules! countdown {
    ($name:ident, $number:ty) => {
        #[flow(input = $number)]
        mod $name {
            use super::*;

            #[step]
            pub async fn first(run: $number) -> Result<$number> {
                Ok(run - 1)
            }

            #[step(depends_on = [first])]
            pub async fn second(first: $number) -> Result<$number> {
                Ok(first - 1)
            }
        }
    };
}

countdown!(short, u8);
countdown!(long, u64);

fn main() {
    assert_eq!([short::Flow::SLUG, long::Flow::SLUG], ["short", "long"]);
    assert_eq!(
        block_on(run(short::Flow, 9)).expect("it runs").output().expect("a number").second,
        7
    );
}
