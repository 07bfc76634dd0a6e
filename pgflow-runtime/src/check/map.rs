//! A map step takes the elements of a sequence.

use crate::Sequence;

/// A step maps over a sequence.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     #[step]
///     async fn count() -> pgflow::Result<u32> { Ok(1) }
///     #[step(map, depends_on = count)]
///     async fn each(item: u32) -> pgflow::Result<u32> { Ok(item) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` cannot map over `{Self}`, which outputs `{Output}`",
    label = "`{Output}` is not a sequence",
    note = "a map step runs once per element of a `Vec<T>`, or of any `pgflow::Sequence`"
)]
pub trait OutputsSequence<Output, Consumer> {
    #[doc(hidden)]
    type Item;
}

#[diagnostic::do_not_recommend]
impl<Dependency, Output: Sequence, Consumer> OutputsSequence<Output, Consumer> for Dependency {
    type Item = Output::Item;
}

/// A map step's parameter has the type of an element.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     #[step]
///     async fn list() -> pgflow::Result<Vec<u32>> { Ok(vec![1]) }
///     #[step(map, depends_on = list)]
///     async fn each(item: String) -> pgflow::Result<String> { Ok(item) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Param}`, but the elements of `{Self}` are `{Item}`",
    label = "expected `{Item}`, an element of the output of `{Self}`"
)]
pub trait OutputsItems<Param, Item, Consumer> {
    #[doc(hidden)]
    fn pass(item: Param) -> Param;
}

impl<Dependency, T, Consumer> OutputsItems<T, T, Consumer> for Dependency {
    fn pass(item: T) -> T {
        item
    }
}

/// A root map step needs a flow whose input is a sequence.
///
/// ```compile_fail
/// #[pgflow::flow(input = u32)]
/// mod wrong {
///     #[step(map)]
///     async fn each(item: u32) -> pgflow::Result<u32> { Ok(item) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` cannot map over the input of its flow, which is `{Input}`",
    label = "`{Input}` is not a sequence",
    note = "a map step runs once per element of a `Vec<T>`, or of any `pgflow::Sequence`"
)]
pub trait HasSequenceInput<Input, Consumer> {
    #[doc(hidden)]
    type Item;
}

#[diagnostic::do_not_recommend]
impl<F, Input: Sequence, Consumer> HasSequenceInput<Input, Consumer> for F {
    type Item = Input::Item;
}

/// A root map step's parameter has the type of an element of the run's input.
///
/// ```compile_fail
/// #[pgflow::flow(input = Vec<u32>)]
/// mod wrong {
///     #[step(map)]
///     async fn each(item: String) -> pgflow::Result<String> { Ok(item) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Param}`, but the elements of its flow's input are `{Item}`",
    label = "expected `{Item}`, an element of the input of the flow"
)]
pub trait HasInputItems<Param, Item, Consumer> {
    #[doc(hidden)]
    fn pass(item: Param) -> Param;
}

impl<F, T, Consumer> HasInputItems<T, T, Consumer> for F {
    fn pass(item: T) -> T {
        item
    }
}
