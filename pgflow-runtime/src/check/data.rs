//! Values can be stored, read back and described; errors can be reported.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data_error::{What, read, write};
use crate::{DataError, Error};

/// An output can be written to the database.
///
/// ```compile_fail
/// #[pgflow::flow(schema = false)]
/// mod wrong {
///     #[derive(serde::Deserialize)]
///     struct NotStored;
///     #[step]
///     async fn make() -> pgflow::Result<NotStored> { Ok(NotStored) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Step}` outputs `{Self}`, which cannot be stored",
    label = "`{Self}` is not `Serialize`",
    note = "outputs are stored as JSON: derive `Serialize` for `{Self}` and for what it holds (in another crate: enable its `serde` feature)"
)]
pub trait Stored<Step> {
    #[doc(hidden)]
    fn write(&self) -> Result<Value, DataError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize, Step: crate::Step> Stored<Step> for T {
    fn write(&self) -> Result<Value, DataError> {
        write(What::Output(Step::SLUG), self)
    }
}

/// An output can be read back from the database.
///
/// ```compile_fail
/// #[pgflow::flow(schema = false)]
/// mod wrong {
///     #[derive(serde::Serialize)]
///     struct NotReadBack;
///     #[step]
///     async fn make() -> pgflow::Result<NotReadBack> { Ok(NotReadBack) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Step}` outputs `{Self}`, which cannot be read back",
    label = "`{Self}` is not `Deserialize`",
    note = "outputs are stored as JSON: derive `Deserialize` for `{Self}` and for what it holds"
)]
pub trait ReadBack<Step>: Sized {
    #[doc(hidden)]
    fn read(json: &Value) -> Result<Self, DataError>;
    #[doc(hidden)]
    fn read_all(json: &Value) -> Result<Vec<Self>, DataError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned, Step: crate::Step> ReadBack<Step> for T {
    fn read(json: &Value) -> Result<Self, DataError> {
        read(What::Output(Step::SLUG), json)
    }
    fn read_all(json: &Value) -> Result<Vec<Self>, DataError> {
        read(What::Output(Step::SLUG), json)
    }
}

/// An output has a JSON Schema, unless the flow says `schema = false`.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     #[derive(serde::Serialize, serde::Deserialize)]
///     struct NotDescribed;
///     #[step]
///     async fn make() -> pgflow::Result<NotDescribed> { Ok(NotDescribed) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Step}` outputs `{Self}`, which has no JSON Schema",
    label = "`{Self}` is not `JsonSchema`",
    note = "derive `JsonSchema` for `{Self}` and for what it holds, or opt out: `#[flow(schema = false)]`"
)]
pub trait Described<Step> {
    #[doc(hidden)]
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema, Step> Described<Step> for T {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

/// A run's input can be written to the database and read back.
///
/// ```compile_fail
/// struct NotStored;
/// #[pgflow::flow(input = NotStored, schema = false)]
/// mod wrong {
///     #[step]
///     async fn count() -> pgflow::Result<u32> { Ok(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the input of `{Flow}` is `{Self}`, which cannot be stored and read back",
    label = "not both `Serialize` and `Deserialize`",
    note = "inputs are stored as JSON: derive both for `{Self}` and for what it holds"
)]
pub trait StoredInput<Flow>: Sized {
    #[doc(hidden)]
    fn read(json: &Value) -> Result<Self, DataError>;
    #[doc(hidden)]
    fn write(&self) -> Result<Value, DataError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned, Flow> StoredInput<Flow> for T {
    fn read(json: &Value) -> Result<Self, DataError> {
        read(What::RunInput, json)
    }
    fn write(&self) -> Result<Value, DataError> {
        write(What::RunInput, self)
    }
}

/// A run's input has a JSON Schema, unless the flow says `schema = false`.
///
/// ```compile_fail
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct NotDescribed;
/// #[pgflow::flow(input = NotDescribed)]
/// mod wrong {
///     #[step]
///     async fn count() -> pgflow::Result<u32> { Ok(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the input of `{Flow}` is `{Self}`, which has no JSON Schema",
    label = "`{Self}` is not `JsonSchema`",
    note = "derive `JsonSchema` for `{Self}` and for what it holds, or opt out: `#[flow(schema = false)]`"
)]
pub trait DescribedInput<Flow> {
    #[doc(hidden)]
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema, Flow> DescribedInput<Flow> for T {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

/// A map step can read its element from the database.
///
/// ```compile_fail
/// struct NotRead;
/// struct List;
/// impl pgflow::Sequence for List { type Item = NotRead; }
/// #[pgflow::flow(input = List, schema = false)]
/// mod wrong {
///     #[step(map)]
///     async fn each(item: super::NotRead) -> pgflow::Result<u32> { Ok(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Consumer}` takes `{Self}`, which cannot be read back",
    label = "`{Self}` is not `Deserialize`",
    note = "elements are stored as JSON: derive `Deserialize` for `{Self}` and for what it holds"
)]
pub trait ReadItem<Consumer>: Sized {
    #[doc(hidden)]
    fn read(json: &Value) -> Result<Self, DataError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned, Consumer: crate::Step> ReadItem<Consumer> for T {
    fn read(json: &Value) -> Result<Self, DataError> {
        read(What::Item(Consumer::SLUG), json)
    }
}

/// A step's error can be reported: it is an error, and `Send + Sync + 'static`.
///
/// ```compile_fail
/// #[pgflow::flow]
/// mod wrong {
///     struct NotAnError;
///     #[step]
///     async fn count() -> Result<u32, NotAnError> { Ok(1) }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "step `{Step}` fails with `{Self}`, which cannot be reported",
    label = "`{Self}` is not an error that can be sent between threads",
    note = "it must implement `std::error::Error` and be `Send + Sync + 'static`; `Box<dyn Error + Send + Sync>` or `pgflow::Error` will do"
)]
pub trait Reported<Step> {
    #[doc(hidden)]
    fn report(self) -> Error;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Error>, Step> Reported<Step> for E {
    fn report(self) -> Error {
        self.into()
    }
}
