//! Keys of maps: texts, and what `serde_json` writes as one.

use serde::ser::{Error as _, Impossible, Serialize, Serializer};

use super::error::{Failed, Why};

/// Writes a key.
pub(super) struct Key;

type No = Impossible<String, Failed>;

fn no<T>() -> Result<T, Failed> {
    Err(Failed::custom("a key of a map must be a text, a number or a flag"))
}

macro_rules! as_text {
    ($($method:ident($ty:ty))*) => {
        $(fn $method(self, key: $ty) -> Result<String, Failed> {
            Ok(key.to_string())
        })*
    };
}

impl Serializer for Key {
    type Ok = String;
    type Error = Failed;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = No;
    type SerializeStructVariant = No;

    as_text! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    fn serialize_f32(self, key: f32) -> Result<String, Failed> {
        self.serialize_f64(key.into())
    }

    fn serialize_f64(self, key: f64) -> Result<String, Failed> {
        if key.is_finite() { Ok(key.to_string()) } else { Err(Failed::new(Why::NotFinite(key))) }
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<String, Failed> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        key: &T,
    ) -> Result<String, Failed> {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<String, Failed> {
        key.serialize(self)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, Failed> {
        no()
    }

    fn serialize_none(self) -> Result<String, Failed> {
        no()
    }

    fn serialize_unit(self) -> Result<String, Failed> {
        no()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<String, Failed> {
        no()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Failed> {
        no()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<No, Failed> {
        no()
    }

    fn serialize_tuple(self, _: usize) -> Result<No, Failed> {
        no()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<No, Failed> {
        no()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, Failed> {
        no()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<No, Failed> {
        no()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<No, Failed> {
        no()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<No, Failed> {
        no()
    }
}
