//! What a file with flows starts with: `use pgflow::prelude::*;`.

pub use crate::{Context, Error, Result, State, data, flow, step};
pub use crate::{Flow as _, Step as _};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
