//! Every step is found at its own place, also where places have two digits.
#![deny(warnings)]

use pgflow::Step;
use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

macro_rules! chain {
    ($first:ident $(, $before:ident => $step:ident)*) => {
        #[flow(input = u32)]
        mod chain {
            #[step]
            pub async fn $first(run: u32) -> pgflow::Result<u32> {
                Ok(run + 1)
            }
            $(
                #[step(depends_on = [$before])]
                pub async fn $step($before: u32) -> pgflow::Result<u32> {
                    Ok($before + 1)
                }
            )*
        }

        const SLUGS: &[(&str, &str)] = &[
            (<chain::$first as Step>::SLUG, stringify!($first)),
            $((<chain::$step as Step>::SLUG, stringify!($step))),*
        ];
    };
}
chain!(a, a => b, b => c, c => d, d => e, e => f, f => g, g => h, h => i, i => j, j => k, k => l);

fn main() {
    assert_eq!(SLUGS.len(), 12);
    for (slug, name) in SLUGS {
        assert_eq!(slug, name);
    }
    let ran = block_on(run(chain::Flow, 0)).expect("it runs");
    assert_eq!(ran.output().expect("its output").l, 12);
    assert_eq!(ran.step::<chain::j>().expect("its output"), Some(10));
}
