//! What the tests of compiler messages share: the snapshots, cut into errors, and the toolchain
//! they belong to.

mod case;
mod report;
mod scratch;
mod toolchain;

pub use case::{Case, cases, orphans};
pub use report::{Report, reports};
pub use scratch::Scratch;
pub use toolchain::{Toolchain, current, pinned};
