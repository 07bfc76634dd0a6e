//! What a file with flows starts with.
//!
//! ```
//! use pgflow::prelude::*;
//!
//! #[flow]
//! mod ping {
//!     use super::*;
//!
//!     #[step]
//!     pub async fn pong(ctx: Context) -> Result<u32> {
//!         Ok(ctx.attempt())
//!     }
//! }
//!
//! fn main() {
//!     assert_eq!(ping::Flow::SLUG, "ping");
//! }
//! ```
//!
//! The derives `Serialize`, `Deserialize` and `JsonSchema` expand to code that needs the crates `serde` and
//! `schemars` in your `Cargo.toml`; [`data`] does not.

#[doc(no_inline)]
pub use crate::{Context, Error, Hook, Result, State, Waiting, data, flow, step};
#[cfg(feature = "engine")]
#[doc(no_inline)]
pub use crate::{Db, Emit, Tx, Worker, job, job::JobContext, need};
#[doc(no_inline)]
pub use crate::{Flow as _, Step as _};
#[doc(no_inline)]
pub use schemars::JsonSchema;
#[doc(no_inline)]
pub use serde::{Deserialize, Serialize};
