//! The shape of a flow and its rules, as plain data.
//!
//! Nothing here knows about Rust syntax or a database driver: the macros, the migration generator
//! and the worker all agree on these few types.
//!
//! ```
//! use pgflow_model::{FlowShape, StepShape};
//!
//! let mut orders = FlowShape::new("orders");
//! orders.steps.push(StepShape::new("fetch"));
//! orders.steps.push(StepShape::new("ship").after("fetch"));
//! assert!(orders.to_mermaid().contains("fetch --> ship"));
//! ```

#![forbid(unsafe_code)]

mod causes;
mod change;
mod differences;
mod duration;
mod flow_migrations;
mod git;
mod graph;
mod impact;
mod json;
mod lock;
mod normal;
mod operation;
mod options;
mod order;
mod pattern;
mod policy;
mod schema;
mod shape;
mod skip;
mod slug;
mod sql;
mod stored;
mod version;
mod visible;

pub use causes::{causes, with_causes};
pub use change::{Change, Edit, Part, changes};
pub use differences::differences;
pub use duration::{InvalidDuration, parse_seconds};
pub use flow_migrations::{FlowMigration, FlowMigrations};
pub use git::GIT_REPOSITORY;
pub use graph::mermaid_id;
pub use impact::Impact;
pub use json::InvalidShape;
pub use lock::{DraftsAfter, Finishable, Lock, LockError, LockedVersion, step_line};
pub use operation::{InvalidOperation, Operation};
pub use options::{OPTIONS, OptionRule, StepOptions, flow_options};
pub use order::{Cycle, topological_order};
pub use pattern::{InvalidPattern, Pattern};
pub use policy::{InvalidPolicy, MOST_MISSED, Missed, Overlap};
pub use schema::{SchemaChange, schema_changes};
pub use shape::{FlowShape, StepKind, StepShape};
pub use skip::{OnSkip, Presence};
pub use slug::{InvalidSlug, MAX_FLOW_SLUG, MAX_STEP_SLUG, check_flow_slug, check_step_slug};
pub use stored::{InvalidSchemas, Readable, StoredChange, StoredData, StoredForm, StoredSchemas};
pub use version::{is_version_slug, version_slug};
pub use visible::{visible, visible_json};
