//! Reads `#[flow]` modules.
//!
//! Two passes, so that each file has one job:
//!
//! 1. [`FlowItem`] *parses*: it finds the steps and leaves every other token alone.
//! 2. [`Flow`] *checks*: it resolves names, orders the graph and reports every problem it finds.
//!
//! The macros expand a [`Flow`] into Rust; the migration generator turns the same [`Flow`] into a
//! [`FlowShape`](pgflow_model::FlowShape). Neither can disagree with the other about what a flow is.

#![forbid(unsafe_code)]

mod args;
mod check;
mod condition;
mod data;
mod dependencies;
mod errors;
mod flow;
mod held;
mod item;
mod named;
mod names;
mod options;
mod own_items;
mod owned;
mod params;
mod pattern;
mod pattern_part;
mod pretty;
mod renamed;
mod signature;
mod standing;
mod step;
mod suggest;
mod unknown_param;
mod used_macros;
mod value;

pub use check::check;
pub use condition::TypeCheck;
pub use data::{DataArgs, stored_fields};
pub use errors::Errors;
pub use flow::{Dependency, Flow, Step};
pub use held::{Held, held};
pub use item::{FlowItem, Piece, StepItem, is_attr};
pub use named::has_name;
pub use params::{Param, Source};
pub use pattern::ConditionArg;
pub use pattern_part::{PatternPart, Place, Wanted};
pub use pretty::pretty;
pub use standing::{Standing, standing};
