//! What a run is given has the type that it takes.
//!
//! Functions take these as `&dyn`: of a wrong type, the compiler then says the sentence below at the argument and stops. With a
//! plain `&F::Input` it would show our function as well.

/// A run is started with the input of its flow.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[flow(input = u8)]
/// mod billing { #[step] pub async fn invoice(run: u8) -> pgflow::Result<u8> { Ok(run) } }
///
/// let wrong = billing::Flow::start(&"seven".to_owned());
/// ```
#[diagnostic::on_unimplemented(
    message = "the input of this flow is `{Input}`, not `{Self}`",
    label = "expected `&{Input}`"
)]
pub trait InputOf<Input> {
    #[doc(hidden)]
    fn given(&self) -> &Input;
}

#[diagnostic::do_not_recommend]
impl<Input> InputOf<Input> for Input {
    fn given(&self) -> &Input {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<Input> InputOf<Input> for &Input {
    fn given(&self) -> &Input {
        self
    }
}
