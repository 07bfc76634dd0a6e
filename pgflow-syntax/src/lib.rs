//! Reads `#[flow]` and `#[job]` modules.
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
mod attribute_words;
mod cases;
mod check;
mod condition;
mod data;
mod data_mistakes;
mod dependencies;
mod errors;
mod flow;
mod held;
mod item;
mod job;
mod named;
mod names;
mod options;
mod own_items;
mod owned;
mod param_shape;
mod params;
mod pattern;
mod pattern_part;
mod permits;
mod pretty;
mod renamed;
mod returned;
mod scalars;
mod schedule;
mod serde_options;
mod signature;
mod standing;
mod step;
mod stored;
mod suggest;
mod suspects;
mod type_names;
mod unknown_param;
mod used_macros;
mod value;
mod waits;

pub use args::{flow_words, step_words};
pub use attribute_words::AttributeWords;
pub use check::check;
pub use condition::TypeCheck;
pub use data::DataArgs;
pub use data_mistakes::data_mistakes;
pub use errors::Errors;
pub use flow::{Dependency, Flow, Output, Step};
pub use held::{Held, HeldBeside, HeldType, Place, held, held_at_least, held_beside};
pub use item::{Broken, FlowItem, Piece, StepItem, Words, is_attr};
pub use job::{Job, JobItem, Need, NeedOptions, NeedParam, NeedSource, check_job};
pub use named::has_name;
pub use param_shape::{first_of_many_states, is_bare_parameter, is_bare_state, is_no_state};
pub use params::{Param, Source};
pub use pattern::ConditionArg;
pub use pattern_part::{Extent, PathSegment, PatternPart, Wanted};
pub use permits::Permits;
pub use pretty::pretty;
pub use returned::{is_bare_result, is_bare_waiting};
pub use schedule::Schedule;
pub use standing::{Standing, standing};
pub use stored::{StoredAs, stored_as};
pub use suspects::{is_suspect, map_keys};
pub use waits::chunk_of;
