//! What the compiler checks in a flow.
//!
//! You do not use these traits; you meet their names in compiler messages. Each stands for one
//! rule, and carries the message shown when a flow breaks it. They are implemented for everything
//! that keeps the rule; there is nothing to implement by hand.
//!
//! A flow that keeps them all compiles, and one that breaks a rule names its trait:
//!
//! ```
//! #[pgflow::flow(input = u32)]
//! mod right {
//!     #[step] // `HasInput`: `run` has the type of the flow's input
//!     pub async fn double(run: u32) -> pgflow::Result<u32> { Ok(run * 2) }
//!     #[step(depends_on = double)] // `OutputsOne`: `double` has the type of its output
//!     pub async fn show(double: u32) -> pgflow::Result<String> { Ok(double.to_string()) }
//! }
//!
//! # fn main() -> pgflow::Result<()> {
//! let run = pgflow::testing::block_on(pgflow::testing::run(right::Flow, 21))?;
//! assert_eq!(run.output()?.show, "42");
//! # Ok(())
//! # }
//! ```

mod argument;
#[cfg(feature = "engine")]
mod asked;
mod data;
mod edge;
mod given;
mod map;
#[cfg(feature = "engine")]
mod need;
mod parameter;
#[cfg(feature = "engine")]
mod pipeline;
mod returned;
mod runs;
#[cfg(feature = "engine")]
mod stage;
mod step_of;
mod waiting;

#[cfg(feature = "engine")]
pub use crate::emit::IsEmit;
pub use argument::{Is, Lasts, PutsOut};
#[cfg(feature = "engine")]
pub use asked::{PayloadsOf, Reads, RunOf, Sends, WaitsFor, Writes};
pub use data::{
    ReadItem, Reported, Stored, StoredInput, StoredInputWithoutSchema, StoredWithoutSchema,
};
pub use edge::{HasInput, MayOutput, OutputsAll, OutputsOne};
pub use given::InputOf;
#[cfg(feature = "engine")]
pub use given::{OutputOf, PayloadOf};
pub use map::{HasInputItems, HasSequenceInput, OutputsItems, OutputsSequence};
#[cfg(feature = "engine")]
pub use need::{EndsWith, HandsTo, IsJobContext, IsNext, NeedOf, StoredPayload};
#[cfg(feature = "engine")]
pub use parameter::IsTransaction;
pub use parameter::{IsContext, IsState};
#[cfg(feature = "engine")]
pub use pipeline::{Carries, Emits, Handles, Keeps, KeepsTo};
pub use returned::{IsResult, MadeFrom, Wraps};
#[cfg(feature = "engine")]
pub use runs::{Applies, WorksFor, WorksOn, WorksThrough};
pub use runs::{Runs, Shares, Starts, Takes, TakesAll};
#[cfg(feature = "engine")]
pub use stage::{Batches, StageTakes, StageTakesIn, StageTakesLoaded, StageTakesLoadedIn};
pub use step_of::StepOf;
pub use waiting::{AnswerOf, IsHook, IsWaiting, WaitsForAnswer};
