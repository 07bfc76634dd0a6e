//! Kinds of jobs, as the compiler checks them and a worker sees them.
//!
//! A job carries only what it needs next: a capability and a payload. A worker that has that capability leases it, works,
//! and says what comes next. `#[job] mod invoice { … }` makes a kind of job of a module, and a need of each of its functions.
//!
//! ```
//! use pgflow::prelude::*;
//!
//! #[job]
//! mod invoice {
//!     use super::*;
//!
//!     #[need]
//!     pub async fn ingest(job: String) -> Result<Next> {
//!         Ok(Next::to::<total>(job.lines().map(str::len).collect()))
//!     }
//!
//!     #[need(max_attempts = 5)]
//!     pub async fn total(job: Vec<usize>) -> Result<Next> {
//!         Ok(Next::done(job.iter().sum::<usize>()))
//!     }
//!
//!     /// A person looks at it: no program of ours.
//!     #[need("human.review", external)]
//!     pub async fn review(job: String) -> Result<Next>;
//! }
//!
//! # fn main() {
//! use pgflow::job::{Job as _, Need as _};
//!
//! let needs: Vec<_> = invoice::Job::NEEDS.iter().map(|need| need.name).collect();
//! assert_eq!(needs, ["invoice.ingest", "invoice.total", "human.review"]);
//! assert_eq!(invoice::total::DEF.max_attempts, Some(5));
//! # }
//! ```

mod context;
mod next;
mod spec;
mod task;

use crate::Error;
use crate::extract;
use crate::kept::Kept;

pub use context::JobContext;
pub use next::{Ending, Next};
pub use pgflow_machine::job::{
    ConcernCleared, Dependency, HandOver, InvalidJobId, JobCancelled, JobId, JobOutcome,
    JobProblem, JobRow, JobSettings, JobState, JobStatus, Operated, Policy, Redriven, Unheld, Wait,
};
pub use spec::JobSpec;
pub use task::{CalledNeed, JobTask, NeedCall, need_future, payload};

/// A kind of job. `#[job] mod invoice { … }` makes one called `invoice::Job`.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[job] mod ping { use super::*; #[need] pub async fn pong() -> Result<Next> { Ok(Next::done(1)) } }
/// # fn main() {
/// use pgflow::job::Job;
///
/// assert_eq!(ping::Job::NAME, "ping");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of job",
    label = "expected one, such as `invoice::Job` of `#[job] mod invoice`"
)]
pub trait Job: Send + Sync + 'static {
    /// What the capabilities of its needs begin with.
    const NAME: &'static str;
    /// Its needs, in the order of the source.
    const NEEDS: &'static [&'static NeedDef];
}

/// A need. `#[need] async fn ingest(…)` makes one called `ingest`: a type beside the function.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[job] mod ping { use super::*; #[need("pong")] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
/// # fn main() {
/// use pgflow::job::Need;
///
/// assert_eq!(ping::pong::DEF.name, "pong");
/// assert_eq!(ping::pong::DEF.payload_type, "u8");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a need",
    label = "expected a need, such as `invoice::ingest`"
)]
pub trait Need: 'static {
    /// The kind of job it belongs to.
    type Job: Job;
    /// What a job carries that needs this.
    type Payload: 'static;
    /// What a worker knows of it.
    const DEF: &'static NeedDef;

    #[doc(hidden)]
    const KEPT: fn() -> Kept<Self::Payload, Self::Payload>;
}

/// A need as a worker sees it: constant data, made by `#[need]`.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[job] mod ping { use super::*; #[need(lease = "5m")] pub async fn pong() -> Result<Next> { Ok(Next::done(1)) } }
/// # fn main() {
/// use pgflow::job::Need;
///
/// assert_eq!(ping::pong::DEF.lease, Some(300));
/// assert!(!ping::pong::DEF.is_external);
/// # }
/// ```
#[derive(Debug)]
pub struct NeedDef {
    /// The capability.
    pub name: &'static str,
    /// Type of the payload, as written.
    pub payload_type: &'static str,
    /// Whether it is handled elsewhere.
    pub is_external: bool,
    /// Seconds that a lease lasts, if the need says so.
    pub lease: Option<u32>,
    /// How often a job may be claimed for it, if the need says so.
    pub max_attempts: Option<u32>,
    /// Seconds before the second attempt, if the need says so; each further one waits twice as long.
    pub base_delay: Option<u32>,
    /// [Resources](crate::Db::resource) that an attempt holds a unit of.
    pub resources: &'static [&'static str],
    /// The [rate](crate::Db::rate) that an attempt takes a token of.
    pub rate: Option<&'static str>,
    /// Application state it needs.
    pub states: &'static [Option<extract::Need>],
    /// Whether it takes the transaction that records how its attempt ended.
    pub takes_tx: bool,
    #[doc(hidden)]
    pub call: NeedCall,
}

impl NeedDef {
    /// A need with nothing said about it: what the macro starts from.
    #[doc(hidden)]
    pub const PLAIN: Self = Self {
        name: "",
        payload_type: "",
        is_external: false,
        lease: None,
        max_attempts: None,
        base_delay: None,
        resources: &[],
        rate: None,
        states: &[],
        takes_tx: false,
        call: |_| Err(Error::fatal("nobody handles this need here")),
    };
}
