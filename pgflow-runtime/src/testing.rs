//! Flows in tests: in this process, without a database, without waiting.
//!
//! [`run`] takes a flow from its input to its output, with everything a worker would do about
//! dependencies, maps, conditions, skips and retries. Steps run one after another, so a test sees
//! the same order every time. What it does not do: wait (delays between attempts and start delays
//! are not slept), enforce timeouts, or survive the end of the process. A panic in a step goes
//! through to the test. A step that waits gets what it waits for at once: a sleep is over, children run, and answers
//! are those of [`Runner::signal`].
//!
//! With the feature `engine` there is also `Sim`, which does wait, in no time, and whose workers can die: see the
//! guide `docs/testing-flows.md`.
//!
//! ```
//! use pgflow::prelude::*;
//! use pgflow::testing;
//!
//! #[flow(input = Vec<u32>)]
//! mod total {
//!     #[step(map)]
//!     pub async fn double(item: u32) -> pgflow::Result<u32> {
//!         Ok(item * 2)
//!     }
//!
//!     #[step(depends_on = [double])]
//!     pub async fn sum(double: Vec<u32>) -> pgflow::Result<u32> {
//!         Ok(double.iter().sum())
//!     }
//! }
//!
//! let run = testing::block_on(testing::run(total::Flow, vec![1, 2, 3]))?;
//! assert_eq!(run.output()?.sum, 12);
//! assert_eq!(run.step::<total::double>()?, Some(vec![2, 4, 6]));
//! # Ok::<(), pgflow::Error>(())
//! ```

mod block_on;
mod error;
mod finished;
#[cfg(feature = "engine")]
mod pipeline;
mod run;
mod runner;
mod schemas;
#[cfg(feature = "engine")]
mod sim;
mod waits;

pub use block_on::block_on;
pub use error::RunError;
pub use finished::{FinishedRun, StepStatus};
#[cfg(feature = "engine")]
pub use pipeline::TestPipeline;
pub use runner::{Runner, run};
#[doc(hidden)]
pub use schemas::assert_readable;
pub use schemas::{ChangedData, SchemaError, SchemaMode, compare_schemas};
#[cfg(feature = "engine")]
pub use sim::{Crash, Sim, SimError, every_crash};
