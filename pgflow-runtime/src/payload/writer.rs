//! The writer itself: one value.

use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::compound::{Elements, Entries, Fields};
use super::error::{Failed, Why};
use super::variant::{VariantElements, VariantFields, within};

/// Levels that `serde_json` reads back; deeper values would also endanger the stack.
const MAX_LEVELS: usize = 127;

/// Writes one value.
#[derive(Clone, Copy, Default)]
pub(super) struct Writer {
    /// How many values are around it.
    level: usize,
}

impl Writer {
    /// For what is inside the value.
    fn inside(self) -> Result<Self, Failed> {
        if self.level + 1 >= MAX_LEVELS {
            return Err(Failed::new(Why::TooDeep(MAX_LEVELS)));
        }
        Ok(Self { level: self.level + 1 })
    }
}

/// Numbers that fit are exact; nothing is rounded.
macro_rules! integers {
    ($($method:ident($ty:ty))*) => {
        $(fn $method(self, number: $ty) -> Result<Value, Failed> {
            Ok(Value::from(number))
        })*
    };
}

impl Serializer for Writer {
    type Ok = Value;
    type Error = Failed;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = VariantElements;
    type SerializeMap = Entries;
    type SerializeStruct = Fields;
    type SerializeStructVariant = VariantFields;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    fn serialize_i128(self, number: i128) -> Result<Value, Failed> {
        let small = i64::try_from(number).map(Value::from);
        small
            .or_else(|_| u64::try_from(number).map(Value::from))
            .map_err(|_| Failed::new(Why::TooBig(number.to_string())))
    }

    fn serialize_u128(self, number: u128) -> Result<Value, Failed> {
        let small = u64::try_from(number).map(Value::from);
        small.map_err(|_| Failed::new(Why::TooBig(number.to_string())))
    }

    fn serialize_f32(self, number: f32) -> Result<Value, Failed> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<Value, Failed> {
        if !number.is_finite() {
            return Err(Failed::new(Why::NotFinite(number)));
        }
        // Postgres' `jsonb` has no negative zero, so nobody gets one.
        Ok(Value::from(if number == 0.0 { 0.0 } else { number }))
    }

    fn serialize_bool(self, flag: bool) -> Result<Value, Failed> {
        Ok(Value::Bool(flag))
    }

    fn serialize_char(self, letter: char) -> Result<Value, Failed> {
        Ok(Value::String(letter.to_string()))
    }

    fn serialize_str(self, text: &str) -> Result<Value, Failed> {
        Ok(Value::String(text.to_owned()))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, Failed> {
        Ok(Value::Array(bytes.iter().map(|byte| Value::from(*byte)).collect()))
    }

    fn serialize_none(self) -> Result<Value, Failed> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Failed> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, Failed> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value, Failed> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value, Failed> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Value, Failed> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Failed> {
        within(variant, value.serialize(self.inside()?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Elements, Failed> {
        Ok(Elements::new(self.inside()?, len.unwrap_or(0)))
    }

    fn serialize_tuple(self, len: usize) -> Result<Elements, Failed> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Elements, Failed> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<VariantElements, Failed> {
        let elements = self.inside()?.serialize_seq(Some(len))?;
        Ok(VariantElements { variant, elements })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Entries, Failed> {
        Ok(Entries::new(self.inside()?))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Fields, Failed> {
        // Numbers and raw JSON of `serde_json` itself, depending on its features.
        if name.starts_with("$serde_json::private::") {
            return Fields::of_serde_json(name);
        }
        Ok(Fields::Plain(self.inside()?, Map::new()))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<VariantFields, Failed> {
        let inside = self.inside()?.inside()?;
        Ok(VariantFields { variant, fields: Fields::Plain(inside, Map::new()) })
    }
}
