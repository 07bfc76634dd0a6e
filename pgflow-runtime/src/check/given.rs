//! What a run, a job or a test is given has the type that it takes.
//!
//! With a plain `&F::Input` in a signature, the compiler would show the call and our function at length; of a rule it says the sentence
//! below, at the argument.

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

/// A job is submitted with the payload of its need, owned or borrowed, also in a `Box` or `Arc`.
///
/// ```compile_fail
/// # use pgflow::prelude::*;
/// #[job] mod parcel { use super::*; #[need] pub async fn send(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
/// fn wrong(db: pgflow::Db) {
///     let _ = db.submit::<parcel::send>(&"seven".to_owned());
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "the payload of this need is `{Payload}`, not `{Self}`",
    label = "expected `{Payload}`"
)]
pub trait PayloadOf<Payload> {
    #[doc(hidden)]
    fn payload(&self) -> &Payload;
}

// By way of another trait: only of a rule that is broken inside an `impl` does the compiler not show the call as well.
#[cfg(feature = "engine")]
#[diagnostic::do_not_recommend]
impl<Payload, Given: LeadsTo<Payload>> PayloadOf<Payload> for Given {
    fn payload(&self) -> &Payload {
        self.given()
    }
}

/// The payload or the answer, or what points to it.
#[doc(hidden)]
pub trait LeadsTo<Payload> {
    fn given(&self) -> &Payload;
}

/// In a test, a step returns what one of its tasks outputs.
///
/// ```compile_fail
/// # use {pgflow::prelude::*, pgflow::testing::Sim};
/// #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// fn wrong(sim: &mut Sim) {
///     sim.returns::<ping::pong>(&"seven".to_owned());
/// }
/// ```
#[cfg(feature = "engine")]
#[diagnostic::on_unimplemented(
    message = "a task of this step outputs `{Output}`, not `{Self}`",
    label = "expected `&{Output}`"
)]
pub trait OutputOf<Output> {
    #[doc(hidden)]
    fn given(&self) -> &Output;
}

/// A rule is kept by the type itself, and by what points to it.
macro_rules! kept {
    ($rule:ident, $($pointer:ty),*) => {
        #[diagnostic::do_not_recommend]
        impl<T> $rule<T> for T {
            fn given(&self) -> &T {
                self
            }
        }

        $(
            #[diagnostic::do_not_recommend]
            impl<T> $rule<T> for $pointer {
                fn given(&self) -> &T {
                    self
                }
            }
        )*
    };
}

kept!(LeadsTo, &T, &&T, Box<T>, &Box<T>, std::sync::Arc<T>, &std::sync::Arc<T>);
#[cfg(feature = "engine")]
kept!(OutputOf, &T, Box<T>, std::sync::Arc<T>);
