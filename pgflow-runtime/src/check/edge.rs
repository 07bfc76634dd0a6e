//! A parameter has the type of where its value comes from.

use crate::{Error, Flow, Step, Task};

/// A parameter has the type its dependency outputs.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     #[step]
///     async fn count() -> pgflow::Result<u32> { Ok(1) }
///     #[step(depends_on = count)]
///     async fn show(count: String) -> pgflow::Result<String> { Ok(count) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Param}`, but its dependency `{Self}` outputs `{Output}`",
    label = "expected `{Output}`, the output of `{Self}`"
)]
pub trait OutputsOne<Param, Output, Consumer> {
    #[doc(hidden)]
    fn take(task: &Task) -> Result<Param, Error>;
}

impl<Dependency: Step<Output = T>, T, Consumer> OutputsOne<T, T, Consumer> for Dependency {
    fn take(task: &Task) -> Result<T, Error> {
        task.output::<Dependency>()
    }
}

/// A parameter for a map step is a `Vec` of what its tasks output.
///
/// ```compile_fail
/// #[pgflow::flow(input = Vec<u32>)]
/// mod wrong {
///     #[step(map)]
///     async fn double(item: u32) -> pgflow::Result<u32> { Ok(item * 2) }
///     #[step(depends_on = double)]
///     async fn show(double: u32) -> pgflow::Result<u32> { Ok(double) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Param}`, but its dependency `{Self}` outputs `{Output}`",
    label = "expected `{Output}`, the output of `{Self}`",
    note = "`{Self}` is a map step: it outputs an element per task"
)]
pub trait OutputsAll<Param, Output, Consumer> {
    #[doc(hidden)]
    fn take(task: &Task) -> Result<Param, Error>;
}

impl<Dependency: Step<Output = T>, T, Consumer> OutputsAll<T, T, Consumer> for Dependency {
    fn take(task: &Task) -> Result<T, Error> {
        task.output::<Dependency>()
    }
}

/// A parameter for a dependency that may be skipped is an `Option` of what it outputs.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     #[step(when_exhausted = skip)]
///     async fn count() -> pgflow::Result<u32> { Ok(1) }
///     #[step(depends_on = count)]
///     async fn show(count: u32) -> pgflow::Result<u32> { Ok(count) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Param}`, but its dependency `{Self}` may be skipped",
    label = "expected `Option<{Output}>`",
    note = "`{Consumer}` runs even when `{Self}` was skipped, and then gets `None`; with `skip_cascade` on `{Self}` it would be skipped too"
)]
pub trait MayOutput<Param, Output, Consumer> {
    #[doc(hidden)]
    fn take(task: &Task) -> Result<Param, Error>;
}

impl<Dependency: Step<Output = T>, T, Consumer> MayOutput<Option<T>, T, Consumer> for Dependency {
    fn take(task: &Task) -> Result<Option<T>, Error> {
        task.optional_output::<Dependency>()
    }
}

/// A parameter called `run` has the type of the run's input.
///
/// ```compile_fail
/// #[pgflow::flow(input = u32)]
/// mod wrong {
///     #[step]
///     async fn show(run: String) -> pgflow::Result<String> { Ok(run) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Param}`, but the input of its flow is `{Input}`",
    label = "expected `{Input}`, the input of the flow"
)]
pub trait HasInput<Param, Input, Consumer>: Flow {
    #[doc(hidden)]
    fn take(task: &Task) -> Result<Param, Error>;
}

impl<F: Flow<Input = T>, T, Consumer> HasInput<T, T, Consumer> for F {
    fn take(task: &Task) -> Result<T, Error> {
        ((F::KEPT)().read)(task.run_input()).map_err(Error::fatal)
    }
}
