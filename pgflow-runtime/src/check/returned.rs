//! What a step's function returns.

/// A step returns a `Result`: the one of the standard library, under whatever alias.
///
/// ```compile_fail
/// mod other {
///     pub enum Result<T> { Fine(T) }
/// }
/// #[pgflow::flow]
/// mod wrong {
///     #[step]
///     async fn count() -> super::other::Result<u32> { super::other::Result::Fine(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Step}` must return a `Result`, and `{Self}` is another type",
    label = "this is not `std::result::Result`",
    note = "return `pgflow::Result<{Output}>`, or an alias of the `Result` of the standard library"
)]
pub trait IsResult<Output, Error, Step> {
    #[doc(hidden)]
    fn into_result(self) -> Result<Output, Error>;
}

#[diagnostic::do_not_recommend]
impl<Output, Error, Step> IsResult<Output, Error, Step> for Result<Output, Error> {
    fn into_result(self) -> Self {
        self
    }
}

/// `?` makes a `pgflow::Error` of everything that is an error.
///
/// A rule about `pgflow::Error`, not about the type that is none: the compiler would show that one twice.
///
/// ```compile_fail
/// struct NotAnError;
/// fn wrong() -> pgflow::Result<u32> {
///     Err(NotAnError)?
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a `pgflow::Error` cannot be made from `{E}`",
    label = "`{E}` is not an error that is `Send + Sync + 'static`"
)]
pub trait MadeFrom<E> {
    #[doc(hidden)]
    fn source(error: E) -> Box<dyn std::error::Error + Send + Sync>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> MadeFrom<E> for crate::Error {
    fn source(error: E) -> Box<dyn std::error::Error + Send + Sync> {
        error.into()
    }
}

/// An error that says whether to try again is made of any other.
///
/// ```compile_fail
/// struct NotAnError;
/// let _ = pgflow::Error::fatal(NotAnError);
/// ```
#[diagnostic::on_unimplemented(
    message = "a `pgflow::Error` cannot be made from `{E}`",
    label = "`{E}` is not an error that is `Send + Sync + 'static`"
)]
pub trait Wraps<E> {
    #[doc(hidden)]
    fn wrap(error: E) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Self>> Wraps<E> for crate::Error {
    fn wrap(error: E) -> Self {
        error.into()
    }
}
