//! What a step can map over.

use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};

/// A type that is stored as a JSON array, so that a step can map over it.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// #[serde(transparent)]
/// struct Basket(Vec<u32>);
///
/// impl pgflow::Sequence for Basket {
///     type Item = u32;
/// }
///
/// #[flow(input = Basket)]
/// mod prices {
///     #[step(map)]
///     pub async fn double(item: u32) -> pgflow::Result<u32> {
///         Ok(item * 2)
///     }
/// }
/// # assert_eq!(prices::Flow::SLUG, "prices");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sequence, so a step cannot map over it",
    note = "implement `pgflow::Sequence` for a type of your own that is stored as a JSON array"
)]
pub trait Sequence {
    /// An element.
    type Item;
}

macro_rules! sequences {
    ($($ty:ty),*) => { $( impl<T> Sequence for $ty { type Item = T; } )* };
}
sequences!(Vec<T>, VecDeque<T>, LinkedList<T>, BTreeSet<T>, BinaryHeap<T>, Box<[T]>);

impl<T, S> Sequence for HashSet<T, S> {
    type Item = T;
}

impl<T, const N: usize> Sequence for [T; N] {
    type Item = T;
}
