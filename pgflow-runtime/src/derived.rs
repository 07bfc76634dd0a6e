//! What `#[data]` derives, and what the compiler says if a field stands in its way.
//!
//! serde's own derives would explain that in pages. So they are applied to a hidden copy of the
//! type, on the condition that its fields can be stored, and the type itself forwards to the copy.
//! Should the condition not hold, the check of the fields fails to evaluate; the compiler then
//! keeps silent about everything in whose type the check is mentioned, which is all of the rest.

use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

use crate::text::Text;

/// Something that can be a field. The lifetime makes the compiler believe a `where` clause that does
/// not hold.
pub trait Holdable<'a>: Serialize + DeserializeOwned + JsonSchema {}
impl<T: Serialize + DeserializeOwned + JsonSchema> Holdable<'_> for T {}

/// The same for a field of a type without a schema.
pub trait HoldableWithoutSchema<'a>: Serialize + DeserializeOwned {}
impl<T: Serialize + DeserializeOwned> HoldableWithoutSchema<'_> for T {}

/// The same for a field of a generic type, which is derived itself: the check of its fields is mentioned here.
pub trait Believed<'a, Checked>: Serialize + DeserializeOwned + JsonSchema {}
impl<T: Serialize + DeserializeOwned + JsonSchema, Checked> Believed<'_, Checked> for T {}

/// The same for a field that is left out, and for a type whose default stands in for fields that are not there.
pub trait Defaulted<'a>: Default {}
impl<T: Default> Defaulted<'_> for T {}

/// What serde and schemars derived for a `Type`. Implemented for the check of its fields.
pub trait Derived<Type> {
    /// Writes a value.
    fn serialize<S: Serializer>(value: &Type, serializer: S) -> Result<S::Ok, S::Error>;
    /// Reads a value.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Type, D::Error>;
    /// Describes the type.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema;
}

/// What stands in for derives that failed: serde has said why, and nobody needs to hear that what it would have
/// derived is missing.
///
/// The compiler prefers the functions of the copy itself, which exist only if they could be derived.
pub trait NotDerived<Type>: Sized {
    /// Does not run: the program does not compile.
    fn serialize<S: Serializer>(_: &Type, _: S) -> Result<S::Ok, S::Error> {
        unreachable!()
    }
    /// Does not run: the program does not compile.
    fn deserialize<'de, D: Deserializer<'de>>(_: D) -> Result<Type, D::Error> {
        unreachable!()
    }
}
impl<Copy, Type> NotDerived<Type> for Copy {}

/// `Described::<Copy>::json_schema` is what schemars derived, if it could.
pub struct Described<Copy>(PhantomData<Copy>);

impl<Copy: JsonSchema> Described<Copy> {
    /// Describes the type.
    pub fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Copy::json_schema(generator)
    }
}

/// See [`NotDerived`].
pub trait NotDescribed: Sized {
    /// Does not run: the program does not compile.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        unreachable!()
    }
}
impl<Copy> NotDescribed for Described<Copy> {}

/// `Held::<T>::SERIALIZE` tells whether `T` is `Serialize`, and so on.
///
/// The compiler prefers the constant of the type itself, which exists only where that is so, to
/// that of the trait [`NotHeld`], which exists for all.
pub struct Held<T: ?Sized>(PhantomData<T>);

impl<T: Serialize + ?Sized> Held<T> {
    /// `T` is `Serialize`.
    pub const SERIALIZE: bool = true;
}
impl<T: DeserializeOwned> Held<T> {
    /// `T` is `DeserializeOwned`.
    pub const DESERIALIZE: bool = true;
}
impl<T: JsonSchema + ?Sized> Held<T> {
    /// `T` is `JsonSchema`.
    pub const JSON_SCHEMA: bool = true;
}
impl<T: Default> Held<T> {
    /// `T` is `Default`.
    pub const DEFAULT: bool = true;
}

/// See [`Held`].
pub trait NotHeld {
    /// `T` is not `Serialize`.
    const SERIALIZE: bool = false;
    /// `T` is not `DeserializeOwned`.
    const DESERIALIZE: bool = false;
    /// `T` is not `JsonSchema`.
    const JSON_SCHEMA: bool = false;
    /// `T` is not `Default`.
    const DEFAULT: bool = false;
}
impl<T: ?Sized> NotHeld for Held<T> {}

/// What to say about a field, if it lacks any of the three.
pub const fn missing(what: &str, has: [bool; 3], can_derive: bool) -> Option<Text> {
    let lacks = match has {
        [true, true, true] => return None,
        [true, true, false] => "`JsonSchema`",
        [true, false, true] => "`Deserialize`",
        [false, true, true] => "`Serialize`",
        [true, false, false] => "`Deserialize` or `JsonSchema`",
        [false, true, false] => "`Serialize` or `JsonSchema`",
        [false, false, true] => "`Serialize` or `Deserialize`",
        [false, false, false] => "`Serialize`, `Deserialize` or `JsonSchema`",
    };
    let text = Text::EMPTY.with(what).with(", which cannot be stored: it is not ").with(lacks);
    if !can_derive {
        return Some(text);
    }
    Some(text.with("\nhelp: derive them for it and for what it holds, such as with `#[data]`"))
}

/// What to say about a field that is left out, if nobody knows what it is where the type is read.
pub const fn no_default(what: &str, has_default: bool) -> Option<Text> {
    if has_default {
        return None;
    }
    let text = Text::EMPTY.with(what).with(", which is skipped and has no default");
    Some(text.with(
        "\nhelp: derive `Default` for it, or name a function: `#[serde(skip, default = \"…\")]`",
    ))
}

/// What to say about a type whose fields are those of its default where they are not there, if it has none.
pub const fn not_defaulted(name: &str, has_default: bool) -> Option<Text> {
    if has_default {
        return None;
    }
    let text =
        Text::EMPTY.with("`").with(name).with("` says `#[serde(default)]`, and has no default");
    Some(text.with("\nhelp: derive `Default` for it, or say so at the fields that may be missing"))
}

/// The traits of a `#[data]` type, by way of the copy that they were derived for.
#[macro_export]
#[doc(hidden)]
macro_rules! __impl_data {
    ($type:ident, $copy:ident, $checked:ident, $holdable:ident, [$($held:ty),*], [$($skipped:ty),*]) => {
        impl $crate::__private::Derived<$type> for $checked
        where
            $(for<'a> $held: $crate::__private::$holdable<'a>,)*
            $(for<'a> $skipped: $crate::__private::Defaulted<'a>,)*
        {
            fn serialize<S: $crate::__private::serde::Serializer>(
                value: &$type,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $copy::serialize(value, serializer)
            }

            fn deserialize<'de, D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<$type, D::Error> {
                $copy::deserialize(deserializer)
            }

            fn json_schema(
                generator: &mut $crate::__private::schemars::SchemaGenerator,
            ) -> $crate::__private::schemars::Schema {
                <$crate::__private::Described<$copy>>::json_schema(generator)
            }
        }

        impl $crate::__private::serde::Serialize for $type {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                <$checked as $crate::__private::Derived<$type>>::serialize(self, serializer)
            }
        }

        impl<'de> $crate::__private::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                <$checked as $crate::__private::Derived<$type>>::deserialize(deserializer)
            }
        }
    };
}
pub use crate::__impl_data as impl_data;

/// The schema of a `#[data]` type, by way of the copy that it was derived for.
#[macro_export]
#[doc(hidden)]
macro_rules! __impl_described {
    ($type:ident, $checked:ident, $name:literal) => {
        impl $crate::__private::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed($name)
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                let name = ::core::concat!(::core::module_path!(), "::", $name);
                ::std::borrow::Cow::Borrowed(name)
            }

            fn json_schema(
                generator: &mut $crate::__private::schemars::SchemaGenerator,
            ) -> $crate::__private::schemars::Schema {
                <$checked as $crate::__private::Derived<$type>>::json_schema(generator)
            }
        }
    };
}
pub use crate::__impl_described as impl_described;
