//! The `Result` behind an alias. Only the compiler knows what an alias stands for.

use std::marker::PhantomData;

use crate::text::Text;

/// A `Result`, under any name, that was `Checked` to be one.
///
/// The check is part of the rule's type: where it fails to evaluate, the compiler says so, and keeps
/// silent about everything that follows from it.
pub trait Aliased<Checked> {
    /// What a task outputs.
    type Output;
    /// What it fails with.
    type Error;
    /// The result itself.
    fn into_result(self) -> Result<Self::Output, Self::Error>;
}

impl<Output, Error, Checked> Aliased<Checked> for Result<Output, Error> {
    type Output = Output;
    type Error = Error;
    fn into_result(self) -> Self {
        self
    }
}

/// `Alias::<T>::IS_RESULT` tells whether `T` is a `Result`.
///
/// The compiler prefers the constant of the type itself, which exists only for a `Result`, to that of the
/// trait [`NoResult`], which exists for all.
pub struct Alias<T>(PhantomData<T>);

impl<T, E> Alias<Result<T, E>> {
    /// It is.
    pub const IS_RESULT: bool = true;
}

/// See [`Alias`].
pub trait NoResult {
    /// It is not.
    const IS_RESULT: bool = false;
}
impl<T> NoResult for Alias<T> {}

/// What to say about a step that returns no `Result`.
pub const fn no_result(step: &str, written: &str, is_result: bool) -> Option<Text> {
    if is_result {
        return None;
    }
    let text = Text::EMPTY.with("step `").with(step).with("` must return a `Result`, and `");
    let text = text.with(written).with("` is another type\nhelp: write `-> pgflow::Result<");
    Some(text.with(written).with(">`, and wrap the value in `Ok(…)`"))
}
