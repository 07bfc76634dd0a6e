//! What the tests of compiler messages share: the snapshots, cut into errors, the toolchain they
//! belong to, and wrong programs that are measured by the hundred.

mod case;
mod many;
mod program;
mod report;
mod scratch;
mod sysroot;
mod toolchain;

pub use case::{Case, cases, orphans};
pub use many::{Many, Shown};
pub use program::{Mark, Program, programs};
pub use report::{Report, reports};
pub use scratch::Scratch;
pub use toolchain::{Toolchain, current, pinned};
