//! Needs: what they take, what they return, and to which others they hand over.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data_error::{What, write};
use crate::job::{JobContext, JobTask, Need, Next};
use crate::kept::Kept;
use crate::{DataError, Error};

/// A job is handed over within its kind.
///
/// A rule about `Next`, not about the need: the compiler would show where that is.
///
/// ```compile_fail
/// use pgflow::prelude::*;
/// #[job] mod page { use super::*; #[need] pub async fn scan() -> Result<Next> { Ok(Next::done(1)) } }
/// #[job] mod book { use super::*; #[need] pub async fn open() -> Result<Next> { Ok(Next::to::<super::page::scan>(())) } }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Need}` is not a need of this kind of job: one of another kind is a job of its own, `ctx.submit::<…>(…)`",
    label = "expected a need of the module that `Next` is of"
)]
pub trait HandsTo<Need> {
    #[doc(hidden)]
    type Need: NeedOf<Self::Job, Payload = Self::Payload>;
    #[doc(hidden)]
    type Job;
    /// What a job carries that is handed over. To what is no need, nothing can be handed over, so the compiler stops there.
    type Payload;
}

#[diagnostic::do_not_recommend]
impl<Job, N: NeedOf<Job>> HandsTo<N> for Next<Job> {
    type Need = N;
    type Job = Job;
    type Payload = N::Payload;
}

/// A need belongs to a kind of job: generated code says so.
#[doc(hidden)]
pub trait NeedOf<Job>: Need {}

/// A job ends with an output that can be written to the database.
///
/// ```compile_fail
/// use pgflow::prelude::*;
/// struct Plain;
/// #[job] mod wrong { use super::*; #[need] pub async fn count() -> Result<Next> { Ok(Next::done(Plain)) } }
/// ```
#[diagnostic::on_unimplemented(
    message = "a job cannot end with `{Output}`, which cannot be stored: derive `Serialize` for it and for what it holds, as `#[data]` does"
)]
pub trait EndsWith<Output> {
    #[doc(hidden)]
    fn stored(output: &Output) -> Result<Value, DataError>;
}

#[diagnostic::do_not_recommend]
impl<Job, T: Serialize> EndsWith<T> for Next<Job> {
    fn stored(output: &T) -> Result<Value, DataError> {
        write(What::JobOutput, output)
    }
}

/// A need returns what comes next for the job.
///
/// ```compile_fail
/// use pgflow::prelude::*;
/// struct Total;
/// #[job] mod wrong { use super::*; #[need] pub async fn count() -> Result<Total> { Ok(Total) } }
/// ```
#[diagnostic::on_unimplemented(
    message = "need `{Need}` returns `{Self}`, and a need says what comes next",
    label = "expected the `Next` of this module",
    note = "return `pgflow::Result<Next>`, and end with `Ok(Next::done(…))` or `Ok(Next::to::<…>(…))`"
)]
pub trait IsNext<Job, Need> {
    #[doc(hidden)]
    fn next(self) -> Next<Job>;
}

#[diagnostic::do_not_recommend]
impl<Job, Need> IsNext<Job, Need> for Next<Job> {
    fn next(self) -> Self {
        self
    }
}

/// A parameter called `ctx` of a need is a [`JobContext`].
///
/// ```compile_fail
/// use pgflow::prelude::*;
/// #[job] mod wrong { use super::*; #[need] pub async fn count(ctx: Context) -> Result<Next> { Ok(Next::done(1)) } }
/// ```
#[diagnostic::on_unimplemented(
    message = "need `{Consumer}` takes `{Self}` as its `ctx`",
    label = "expected `pgflow::job::JobContext`",
    note = "parameters are matched by name, and `ctx` is the context of the job"
)]
pub trait IsJobContext<Consumer>: Sized {
    #[doc(hidden)]
    fn from_job(task: &JobTask) -> Result<Self, Error>;
}

#[diagnostic::do_not_recommend]
impl<Consumer> IsJobContext<Consumer> for JobContext {
    fn from_job(task: &JobTask) -> Result<Self, Error> {
        Ok(task.context().clone())
    }
}

/// A payload can be written to the database and read back, and has a JSON Schema.
///
/// ```compile_fail
/// use pgflow::prelude::*;
/// struct Plain;
/// #[job] mod wrong { use super::*; #[need] pub async fn count(job: Plain) -> Result<Next> { Ok(Next::done(1)) } }
/// ```
#[diagnostic::on_unimplemented(
    message = "need `{Need}` takes `{Self}` as its `job`, which cannot be stored",
    label = "not all of `Serialize`, `Deserialize` and `JsonSchema`",
    note = "payloads are stored as JSON: derive all three for `{Self}` and for what it holds, as `#[data]` does"
)]
pub trait StoredPayload<Need>: Sized {
    #[doc(hidden)]
    fn kept() -> Kept<Self, Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema, N: Need> StoredPayload<N> for T {
    fn kept() -> Kept<Self, Self> {
        Kept::payload::<N>().with_schema()
    }
}
