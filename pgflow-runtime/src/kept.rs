//! How values are kept in the database.

use std::any::Any;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data_error::{What, read, write};
use crate::flow::Table;
use crate::schema::SchemaFn;
use crate::step_index::StepIndex as _;
use crate::{DataError, Step};

/// How values of a type are stored, read back and described.
pub struct Kept<Written, Seen> {
    /// Reads what others see.
    pub(crate) read: fn(&Value) -> Result<Seen, DataError>,
    /// Writes a value.
    pub(crate) write: fn(&Written) -> Result<Value, DataError>,
    /// Describes a value, unless the flow said `schema = false`.
    pub(crate) schema: Option<SchemaFn>,
}

impl<Written: JsonSchema, Seen> Kept<Written, Seen> {
    pub(crate) fn with_schema(self) -> Self {
        Self { schema: Some(SchemaGenerator::subschema_for::<Written>), ..self }
    }
}

impl<T: Serialize + DeserializeOwned> Kept<T, T> {
    /// The input of a run.
    pub(crate) fn input() -> Self {
        Self {
            read: |json| read(What::RunInput, json),
            write: |value| write(What::RunInput, value),
            schema: None,
        }
    }

    /// The payload of a job.
    #[cfg(feature = "engine")]
    pub(crate) fn payload<N: crate::job::Need>() -> Self {
        Self {
            read: |json| read(What::Payload(N::DEF.name), json),
            write: |value| write(What::Payload(N::DEF.name), value),
            schema: None,
        }
    }
}

impl<T: Serialize + 'static, Seen: DeserializeOwned + 'static> Kept<T, Seen> {
    /// The output of a step.
    pub(crate) fn output<S: Step>() -> Self {
        Self {
            read: |json| read(What::Output(S::SLUG), json),
            write: |value| write(What::Output(S::SLUG), value),
            schema: None,
        }
    }

    pub(crate) fn boxed(self) -> AnyKept {
        AnyKept { schema: self.schema, kept: Box::new(self) }
    }
}

/// A [`Kept`] of any types, in a table of steps that output this and that.
///
/// The types are checked a second time when it is taken out. A constant of its own for each step would
/// save that, at a price: such constants were about a sixth of what a flow costs to compile.
pub struct AnyKept {
    pub(crate) schema: Option<SchemaFn>,
    kept: Box<dyn Any>,
}

impl AnyKept {
    /// For a step that outputs nothing.
    pub(crate) fn nothing() -> Self {
        Self { schema: None, kept: Box::new(()) }
    }
}

/// How the outputs of a step are kept.
pub(crate) fn kept<S: Step>() -> Kept<S::TaskOutput, S::Output> {
    let of_step = (<S::Flow as Table<()>>::STEPS[S::At::INDEX].kept)();
    *of_step.kept.downcast().expect("the macro writes a step's output and its entry from one type")
}

/// `Reader::<T>::read` reads an element of a list. That its elements can be read is said where the list is
/// stored, so here it is only used.
pub struct Reader<T>(std::marker::PhantomData<T>);

impl<T: DeserializeOwned> Reader<T> {
    /// Reads it.
    pub fn read<Consumer: Step>(json: &Value) -> Result<T, DataError> {
        read(What::Item(Consumer::SLUG), json)
    }
}

/// See [`Reader`].
pub trait Unread<T> {
    /// Never called: a program with such a list does not compile.
    fn read<Consumer: Step>(json: &Value) -> Result<T, DataError>;
}

impl<T> Unread<T> for Reader<T> {
    fn read<Consumer: Step>(_: &Value) -> Result<T, DataError> {
        unreachable!("a list of what cannot be read does not compile")
    }
}
