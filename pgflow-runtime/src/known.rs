//! What the compiler knows of the JSON that a type is stored as.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// JSON that values of a type are stored as.
pub enum Json {
    /// Anything, as far as the compiler knows.
    Unknown,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    Text,
    /// `null`, or something else.
    Optional(&'static Json),
    /// An array of such elements.
    Array(&'static Json),
    /// An object with any keys and such values.
    Map(&'static Json),
    /// An object with these keys at most.
    Object(&'static [Field]),
}

/// A field of an object.
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it is stored as.
    pub json: &'static Json,
}

/// Types whose JSON is known, among them those made with `#[data]`.
///
/// A type may hold itself, in a `Vec` or a `Box`, but a constant cannot. So there are two: the one
/// looks into such holders once, the other not at all.
pub trait Known {
    /// What they are stored as.
    const JSON: &'static Json;
    /// The same, without what is in a holder.
    const FLAT: &'static Json;
}

/// `Probe::<T>::JSON` is what `T` is stored as, whether or not that is known.
///
/// The compiler prefers the constant of the type itself, which exists only for known types, to
/// that of the trait, which exists for all.
pub struct Probe<T: ?Sized>(PhantomData<T>);

impl<T: Known + ?Sized> Probe<T> {
    /// Known.
    pub const JSON: &'static Json = T::JSON;
    /// Known.
    pub const FLAT: &'static Json = T::FLAT;
}

/// See [`Probe`].
pub trait Unknown {
    /// Not known.
    const JSON: &'static Json = &Json::Unknown;
    /// Not known.
    const FLAT: &'static Json = &Json::Unknown;
}
impl<T: ?Sized> Unknown for Probe<T> {}

macro_rules! known {
    ($($json:expr => $($ty:ty),+;)*) => {
        $($(
            impl Known for $ty {
                const JSON: &'static Json = $json;
                const FLAT: &'static Json = $json;
            }
        )+)*
    };
}

known! {
    &Json::Null => ();
    &Json::Boolean => bool;
    &Json::Number => u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize;
    // What is not a number is stored as `null`.
    &Json::Optional(&Json::Number) => f32, f64;
    &Json::Text => str, String, char;
}

macro_rules! holders {
    ($($json:expr, $flat:expr => $([$($parameter:tt)*] $ty:ty),+;)*) => {
        $($(
            impl<T: Known, $($parameter)*> Known for $ty {
                const JSON: &'static Json = $json;
                const FLAT: &'static Json = $flat;
            }
        )+)*
    };
}

holders! {
    T::FLAT, &Json::Unknown => [] Box<T>, [] Rc<T>, [] Arc<T>;
    // Never around itself without another holder.
    &Json::Optional(T::JSON), &Json::Optional(T::FLAT) => [] Option<T>;
    &Json::Array(T::FLAT), &Json::Array(&Json::Unknown) =>
        [] Vec<T>, [] VecDeque<T>, [] LinkedList<T>, [] BTreeSet<T>, [] BinaryHeap<T>,
        [S] HashSet<T, S>, [const N: usize] [T; N];
    &Json::Map(T::FLAT), &Json::Map(&Json::Unknown) =>
        [] BTreeMap<String, T>, [S] HashMap<String, T, S>;
}
