//! Pipelines: what queues take, and what stages keep to.

use pgflow_machine::permit::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::argument::Is;
use super::given::InputOf;
use crate::DataError;
use crate::pipeline::{Queue, Rate};

/// A pipeline is for a [`Queue`], owned or borrowed.
///
/// ```compile_fail
/// let _ = pgflow::pipeline::Pipeline::<String>::new("wrong", "words");
/// ```
#[diagnostic::on_unimplemented(
    message = "a pipeline is for a `Queue`, not for `{Given}`",
    label = "expected a `Queue`, such as `Queue::<Doc>::named(\"docs\")`"
)]
pub trait Handles<Given, Message> {
    #[doc(hidden)]
    fn queue(given: &Given) -> &Queue<Message>;
}

#[diagnostic::do_not_recommend]
impl<Given: SomeQueue<Of = Message>, Message, Who> Handles<Given, Message> for Who {
    fn queue(given: &Given) -> &Queue<Message> {
        given.some()
    }
}

/// By way of another trait: it says which messages a queue is of, so that the compiler need not be told.
#[doc(hidden)]
pub trait SomeQueue {
    type Of;
    fn some(&self) -> &Queue<Self::Of>;
}

#[diagnostic::do_not_recommend]
impl<T> SomeQueue for Queue<T> {
    type Of = T;
    fn some(&self) -> &Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<Q: SomeQueue> SomeQueue for &Q {
    type Of = Q::Of;
    fn some(&self) -> &Queue<Q::Of> {
        (**self).some()
    }
}

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
impl<I: IntoIterator<Item: Is<Message>>, Message> Emits<Message> for I {
    fn values(self) -> impl Iterator<Item = Message> {
        self.into_iter().map(Is::itself)
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

/// Messages can be written to the database and read back.
///
/// ```compile_fail
/// struct Plain;
/// async fn wrong(db: pgflow::Db) {
///     let _ = pgflow::pipeline::Queue::<Plain>::named("plain").push(&db, Plain).await;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "messages of this queue are `{T}`, which cannot be stored: derive `Serialize` and `Deserialize` for it and for what it holds, as `#[data]` does",
    label = "`{T}` is not both `Serialize` and `Deserialize`"
)]
pub trait Keeps<T> {
    #[doc(hidden)]
    fn kept(&self, value: &T) -> Result<Message, DataError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Keeps<T> for Queue<T> {
    fn kept(&self, value: &T) -> Result<Message, DataError> {
        self.message(value)
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
