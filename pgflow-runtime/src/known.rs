//! What the compiler knows of the JSON that a type is stored as.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64,
    NonZeroUsize,
};
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
    /// A whole number from the first to the second.
    Integer(i128, i128),
    /// A number.
    Number,
    /// A string.
    Text,
    /// A string of one character.
    Character,
    /// This string.
    Word(&'static str),
    /// `null`, or something else.
    Optional(&'static Json),
    /// An array of such elements.
    Array(&'static Json),
    /// An object with any keys and such values.
    Map(&'static Json),
    /// An array of these.
    Tuple(&'static [&'static Json]),
    /// An object with these keys at most.
    Object(&'static [Field]),
    /// One of these.
    OneOf(&'static [&'static Json]),
    /// Nothing: it cannot be stored, and why.
    Refused(Refusal),
}

/// Why a type that has all traits cannot be stored nevertheless.
#[derive(Clone, Copy)]
pub enum Refusal {
    /// The keys of a map are no texts.
    Keys,
    /// A number has more than 64 bits.
    Wide,
    /// A `Result` in an output.
    Result,
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
    &Json::Refused(Refusal::Wide) => u128, i128;
    // What is not a number is stored as `null`.
    &Json::Optional(&Json::Number) => f32, f64;
    &Json::Text => str, String;
    &Json::Character => char;
}

/// Whole numbers, from their least to their greatest.
macro_rules! integers {
    ($($ty:ty: $least:expr,)*) => { known! { $(
        &Json::Integer($least as i128, <$ty>::MAX as i128) => $ty;
    )* } };
}

integers! {
    u8: u8::MIN, u16: u16::MIN, u32: u32::MIN, u64: u64::MIN, usize: usize::MIN,
    i8: i8::MIN, i16: i16::MIN, i32: i32::MIN, i64: i64::MIN, isize: isize::MIN,
}

/// Numbers that are never zero.
macro_rules! nonzero {
    ($($ty:ty: $least:expr,)*) => { known! { $(
        &Json::Integer($least as i128, <$ty>::MAX.get() as i128) => $ty;
    )* } };
}

nonzero! {
    NonZeroU8: 1, NonZeroU16: 1, NonZeroU32: 1, NonZeroU64: 1, NonZeroUsize: 1,
    NonZeroI8: i8::MIN, NonZeroI16: i16::MIN, NonZeroI32: i32::MIN, NonZeroI64: i64::MIN,
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
    &map(K::FLAT, T::FLAT), &map(K::FLAT, &Json::Unknown) =>
        [K: Known] BTreeMap<K, T>, [K: Known, S] HashMap<K, T, S>;
}

/// An object, if keys of this kind can be the keys of one.
const fn map(key: &Json, value: &'static Json) -> Json {
    if can_be_key(key) { Json::Map(value) } else { Json::Refused(Refusal::Keys) }
}

/// Whether values are written as texts where a key is wanted.
pub(crate) const fn can_be_key(json: &Json) -> bool {
    match json {
        Json::Null
        | Json::Optional(_)
        | Json::Array(_)
        | Json::Map(_)
        | Json::Tuple(_)
        | Json::Object(_) => false,
        Json::OneOf(all) => {
            let mut at = 0;
            while at < all.len() {
                if !can_be_key(all[at]) {
                    return false;
                }
                at += 1;
            }
            true
        }
        _ => true,
    }
}

impl<T, E> Known for Result<T, E> {
    const JSON: &'static Json = &Json::Refused(Refusal::Result);
    const FLAT: &'static Json = &Json::Refused(Refusal::Result);
}

macro_rules! tuples {
    ($(($($ty:ident),+);)*) => { $(
        impl<$($ty: Known),+> Known for ($($ty,)+) {
            const JSON: &'static Json = &Json::Tuple(&[$($ty::JSON),+]);
            const FLAT: &'static Json = &Json::Tuple(&[$($ty::FLAT),+]);
        }
    )* };
}

tuples! { (A); (A, B); (A, B, C); (A, B, C, D); (A, B, C, D, E); (A, B, C, D, E, F); }
