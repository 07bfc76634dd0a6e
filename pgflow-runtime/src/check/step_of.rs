//! A step belongs to the flow whose run is asked about it.

use crate::Step;

/// A run knows the steps of its own flow.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow]
/// mod billing { #[step] pub async fn invoice() -> pgflow::Result<u32> { Ok(1) } }
/// #[flow]
/// mod reminders { #[step] pub async fn remind() -> pgflow::Result<u32> { Ok(1) } }
///
/// fn wrong(run: pgflow::definition::RunOutputs<billing::Flow>) {
///     let _ = run.step::<reminders::remind>();
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of `{F}`",
    label = "expected a step of `{F}`"
)]
pub trait StepOf<F>: Step {
    /// What it outputs. Of a step of another flow there is nothing to read, so the compiler stops here, and does
    /// not go on to show the bound of whoever asked.
    type Read;

    #[doc(hidden)]
    fn read(output: Self::Output) -> Self::Read;
}

#[diagnostic::do_not_recommend]
impl<S: Step<Flow = F>, F> StepOf<F> for S {
    type Read = S::Output;

    fn read(output: S::Output) -> S::Output {
        output
    }
}
