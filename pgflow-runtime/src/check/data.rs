//! Values can be stored, read back and described; errors can be reported.
//!
//! One rule for all that a value needs: a type that has nothing of it is one error, not three.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data_error::{What, read};
use crate::kept::{AnyKept, Kept};
use crate::{DataError, Error};

/// An output can be written to the database and read back, and has a JSON Schema.
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
    message = "step `{Step}` outputs `{Self}`, which cannot be stored",
    label = "not all of `Serialize`, `Deserialize` and `JsonSchema`",
    note = "outputs are stored as JSON: derive all three for `{Self}` and for what it holds, as `#[data]` does (of another crate: enable its features; without a schema: `#[flow(schema = false)]`)"
)]
pub trait Stored<Step>: Sized {
    #[doc(hidden)]
    fn kept() -> AnyKept;
    #[doc(hidden)]
    fn kept_all() -> AnyKept;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + 'static, Step: crate::Step> Stored<Step> for T {
    fn kept() -> AnyKept {
        Kept::<T, T>::output::<Step>().with_schema().boxed()
    }
    fn kept_all() -> AnyKept {
        Kept::<T, Vec<T>>::output::<Step>().with_schema().boxed()
    }
}

/// An output can be written to the database and read back, in a flow that says `schema = false`.
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
    message = "step `{Step}` outputs `{Self}`, which cannot be stored",
    label = "not both `Serialize` and `Deserialize`",
    note = "outputs are stored as JSON: derive both for `{Self}` and for what it holds (in another crate: enable its `serde` feature)"
)]
pub trait StoredWithoutSchema<Step>: Sized {
    #[doc(hidden)]
    fn kept() -> AnyKept;
    #[doc(hidden)]
    fn kept_all() -> AnyKept;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + 'static, Step: crate::Step> StoredWithoutSchema<Step> for T {
    fn kept() -> AnyKept {
        Kept::<T, T>::output::<Step>().boxed()
    }
    fn kept_all() -> AnyKept {
        Kept::<T, Vec<T>>::output::<Step>().boxed()
    }
}

/// A run's input can be written to the database and read back, and has a JSON Schema.
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
    message = "the input of `{Flow}` is `{Self}`, which cannot be stored",
    label = "not all of `Serialize`, `Deserialize` and `JsonSchema`",
    note = "inputs are stored as JSON: derive all three for `{Self}` and for what it holds, as `#[data]` does (of another crate: enable its features; without a schema: `#[flow(schema = false)]`)"
)]
pub trait StoredInput<Flow>: Sized {
    #[doc(hidden)]
    fn kept() -> Kept<Self, Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema, Flow> StoredInput<Flow> for T {
    fn kept() -> Kept<Self, Self> {
        Kept::input().with_schema()
    }
}

/// A run's input can be written to the database and read back, in a flow that says `schema = false`.
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
    message = "the input of `{Flow}` is `{Self}`, which cannot be stored",
    label = "not both `Serialize` and `Deserialize`",
    note = "inputs are stored as JSON: derive both for `{Self}` and for what it holds (in another crate: enable its `serde` feature)"
)]
pub trait StoredInputWithoutSchema<Flow>: Sized {
    #[doc(hidden)]
    fn kept() -> Kept<Self, Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned, Flow> StoredInputWithoutSchema<Flow> for T {
    fn kept() -> Kept<Self, Self> {
        Kept::input()
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
    message = "`{Step}` fails with `{Self}`, which cannot be reported",
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
