//! Variants of enums that hold something: an object with the variant's name as its only key.

use serde::ser::{Serialize, SerializeStructVariant, SerializeTupleVariant};
use serde_json::{Map, Value};

use super::compound::{Elements, Fields};
use super::error::{Failed, PathSegment};

/// What a variant holds, under its name.
pub(super) fn within(variant: &str, held: Result<Value, Failed>) -> Result<Value, Failed> {
    let held = held.map_err(|failed| failed.below(PathSegment::Key(variant.to_owned())))?;
    Ok(Value::Object(Map::from_iter([(variant.to_owned(), held)])))
}

/// `Variant(a, b)`.
pub(super) struct VariantElements {
    pub(super) variant: &'static str,
    pub(super) elements: Elements,
}

impl SerializeTupleVariant for VariantElements {
    type Ok = Value;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let pushed = self.elements.push(value);
        pushed.map_err(|failed| failed.below(PathSegment::Key(self.variant.to_owned())))
    }

    fn end(self) -> Result<Value, Failed> {
        within(self.variant, Ok(self.elements.finish()))
    }
}

/// `Variant { a, b }`.
pub(super) struct VariantFields {
    pub(super) variant: &'static str,
    pub(super) fields: Fields,
}

impl SerializeStructVariant for VariantFields {
    type Ok = Value;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        let inserted = self.fields.insert(key, value);
        inserted.map_err(|failed| failed.below(PathSegment::Key(self.variant.to_owned())))
    }

    fn end(self) -> Result<Value, Failed> {
        within(self.variant, self.fields.finish())
    }
}
