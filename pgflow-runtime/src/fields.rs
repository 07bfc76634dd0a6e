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

/// Whether a value may have the field at `path`: it does, or its fields are not known.
pub const fn may_have(fields: Option<&[Field]>, path: &[&str]) -> bool {
    let (Some(fields), [first, rest @ ..]) = (fields, path) else { return true };
    let mut at = 0;
    while at < fields.len() {
        if is_same(fields[at].name, first) {
            return may_have(fields[at].fields, rest);
        }
        at += 1;
    }
    false
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &[Field] = &[Field { name: "name", fields: None }];
    const SITE: &[Field] =
        &[Field { name: "url", fields: None }, Field { name: "owner", fields: Some(OWNER) }];

    #[test]
    fn looks_as_deep_as_types_are_known() {
        assert!(may_have(Some(SITE), &["url"]));
        assert!(may_have(Some(SITE), &["url", "anything"]));
        assert!(may_have(Some(SITE), &["owner", "name"]));
        assert!(!may_have(Some(SITE), &["owner", "nam"]));
        assert!(!may_have(Some(SITE), &["ur"]));
        assert!(may_have(None, &["ur"]));
    }
}
