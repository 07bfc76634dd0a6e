//! Pipelines: what queues take.

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
