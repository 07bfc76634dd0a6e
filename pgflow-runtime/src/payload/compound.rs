//! Arrays and objects.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    SerializeTupleStruct, Serializer,
};
use serde_json::{Map, Value};

use super::error::{Failed, PathSegment};
use super::key::Key;
use super::writer::Writer;

/// Elements of an array.
pub(super) struct Elements {
    inside: Writer,
    elements: Vec<Value>,
}

impl Elements {
    pub(super) fn new(inside: Writer, len: usize) -> Self {
        // A length is only a hint, and may be wrong.
        Self { inside, elements: Vec::with_capacity(len.min(4096)) }
    }

    pub(super) fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let at = self.elements.len();
        let element = value.serialize(self.inside);
        self.elements.push(element.map_err(|failed| failed.below(PathSegment::Index(at)))?);
        Ok(())
    }

    pub(super) fn finish(self) -> Value {
        Value::Array(self.elements)
    }
}

macro_rules! elements {
    ($($of:ident :: $method:ident,)*) => {
        $(impl $of for Elements {
            type Ok = Value;
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                self.push(value)
            }

            fn end(self) -> Result<Value, Failed> {
                Ok(self.finish())
            }
        })*
    };
}
elements! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
}

/// Entries of a map.
pub(super) struct Entries {
    inside: Writer,
    written: Map<String, Value>,
    key: Option<String>,
}

impl Entries {
    pub(super) fn new(inside: Writer) -> Self {
        Self { inside, written: Map::new(), key: None }
    }
}

impl SerializeMap for Entries {
    type Ok = Value;
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.key = Some(key.serialize(Key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let key = self.key.take().ok_or_else(|| Failed::custom("a value came before its key"))?;
        insert(self.inside, &mut self.written, key, value)
    }

    fn end(self) -> Result<Value, Failed> {
        Ok(Value::Object(self.written))
    }
}

fn insert<T: Serialize + ?Sized>(
    inside: Writer,
    into: &mut Map<String, Value>,
    key: String,
    value: &T,
) -> Result<(), Failed> {
    match value.serialize(inside) {
        Ok(value) => {
            into.insert(key, value);
            Ok(())
        }
        Err(failed) => Err(failed.below(PathSegment::Key(key))),
    }
}

/// Fields of a struct.
pub(super) enum Fields {
    /// Of any type.
    Plain(Writer, Map<String, Value>),
    /// Of a type that only `serde_json` knows how to write.
    SerdeJson(Box<<serde_json::value::Serializer as Serializer>::SerializeStruct>),
}

impl Fields {
    pub(super) fn of_serde_json(name: &'static str) -> Result<Self, Failed> {
        let fields = serde_json::value::Serializer.serialize_struct(name, 1);
        fields.map(|fields| Self::SerdeJson(Box::new(fields))).map_err(Failed::custom)
    }

    pub(super) fn insert<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        match self {
            Self::Plain(inside, fields) => insert(*inside, fields, key.to_owned(), value),
            Self::SerdeJson(fields) => fields.serialize_field(key, value).map_err(Failed::custom),
        }
    }

    pub(super) fn finish(self) -> Result<Value, Failed> {
        match self {
            Self::Plain(_, fields) => Ok(Value::Object(fields)),
            Self::SerdeJson(fields) => SerializeStruct::end(*fields).map_err(Failed::custom),
        }
    }
}

impl SerializeStruct for Fields {
    type Ok = Value;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        self.insert(key, value)
    }

    fn end(self) -> Result<Value, Failed> {
        self.finish()
    }
}
