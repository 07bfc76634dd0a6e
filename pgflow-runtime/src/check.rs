//! What the compiler checks in a flow.
//!
//! You do not use these traits; you meet their names in compiler messages. Each stands for one
//! rule, and carries the message shown when a flow breaks it. They are implemented for everything
//! that keeps the rule; there is nothing to implement by hand.

mod data;
mod edge;
mod map;
mod parameter;
mod returned;
mod step_of;

pub use data::{Described, DescribedInput, ReadBack, ReadItem, Reported, Stored, StoredInput};
pub use edge::{HasInput, MayOutput, Outputs, OutputsAll};
pub use map::{HasInputItems, HasSequenceInput, OutputsItems, OutputsSequence};
pub use parameter::{IsContext, IsState};
pub use returned::IsResult;
pub use step_of::StepOf;
