//! Pipelines: what queues take, and what stages keep to.

use super::argument::Is;
use super::given::InputOf;
use crate::pipeline::Rate;

/// What is emitted is what the queue takes.
///
/// ```compile_fail
/// use pgflow::pipeline::{Pipeline, Queue};
///
/// Pipeline::new("wrong", &Queue::<String>::named("words"))
///     .process(|word, _ctx| async move { Ok(word) })
///     .emit(&Queue::<u32>::named("numbers"), |word| [word.clone()]);
/// ```
#[diagnostic::on_unimplemented(
    message = "the queue takes messages of type `{Message}`, and `{Self}` holds none of those",
    label = "expected something to go through whose items are `{Message}`, such as `[value]` or a `Vec`"
)]
pub trait Emits<Message> {
    #[doc(hidden)]
    fn values(self) -> impl Iterator<Item = Message>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator> Emits<I::Item> for I {
    fn values(self) -> impl Iterator<Item = I::Item> {
        self.into_iter()
    }
}

/// What is pushed is what the queue takes, owned or borrowed.
///
/// ```compile_fail
/// async fn wrong(db: pgflow::Db) {
///     let _ = pgflow::pipeline::Queue::<String>::named("words").push(&db, 7).await;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the queue takes messages of type `{Message}`, not `{Given}`",
    label = "expected `{Message}`"
)]
pub trait Carries<Given, Message> {
    #[doc(hidden)]
    fn carried(given: &Given) -> &Message;
}

// By way of another trait: only of a rule that is broken inside an `impl` does the compiler not show the call as well.
#[diagnostic::do_not_recommend]
impl<Given: InputOf<Message>, Message, Who> Carries<Given, Message> for Who {
    fn carried(given: &Given) -> &Message {
        given.given()
    }
}

/// What a stage keeps to is a [`Rate`].
///
/// ```compile_fail
/// use pgflow::pipeline::{Pipeline, Queue};
///
/// let _ = Pipeline::new("wrong", &Queue::<String>::named("words")).rate("openai", 600);
/// ```
#[diagnostic::on_unimplemented(
    message = "a rate is a `Rate`, not `{Given}`",
    label = "expected a `Rate`, such as `Rate::per_minute(600)`"
)]
pub trait KeepsTo<Given> {
    #[doc(hidden)]
    fn rate_of(given: Given) -> Rate;
}

#[diagnostic::do_not_recommend]
impl<Given: Is<Rate>, Who> KeepsTo<Given> for Who {
    fn rate_of(given: Given) -> Rate {
        given.itself()
    }
}
