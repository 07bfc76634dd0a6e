//! What a run or a job is given has the type that it takes.
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
/// fn wrong(db: pgflow::Db) {
///     let _ = db.start(billing::Flow, &"seven".to_owned());
/// }
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

/// A job is submitted with the payload of its first need.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[job] mod page { use super::*; #[need] pub async fn scan(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
///
/// fn wrong(db: pgflow::Db) {
///     let _ = db.submit::<page::scan>(&"seven".to_owned());
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "need `{Need}` takes `{Payload}` as its `job`, not `{Self}`",
    label = "expected `&{Payload}`, the payload of the need"
)]
pub trait PayloadOf<Need, Payload> {
    #[doc(hidden)]
    fn given(&self) -> &Payload;
}

#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<Need, Payload> PayloadOf<Need, Payload> for Payload {
    fn given(&self) -> &Payload {
        self
    }
}
