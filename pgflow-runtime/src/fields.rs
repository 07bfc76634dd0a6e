//! Which fields a type made with `#[data]` has, known to the compiler.

use std::marker::PhantomData;

/// A field under its name in JSON, and its own fields where they are known.
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its own fields, where they are known.
    pub fields: Option<&'static [Field]>,
}

/// Implemented by `#[data]`.
pub trait Fields {
    /// The fields.
    const FIELDS: &'static [Field];
}

/// `Probe::<T>::FIELDS` is `T`'s fields, or `None` if they are not known.
///
/// The compiler prefers the constant of the type itself, which exists only for known types, to
/// that of the trait, which exists for all.
pub struct Probe<T: ?Sized>(PhantomData<T>);

impl<T: Fields + ?Sized> Probe<T> {
    /// Known.
    pub const FIELDS: Option<&'static [Field]> = Some(T::FIELDS);
}

/// See [`Probe`].
pub trait Unknown {
    /// Not known.
    const FIELDS: Option<&'static [Field]> = None;
}
impl<T: ?Sized> Unknown for Probe<T> {}
