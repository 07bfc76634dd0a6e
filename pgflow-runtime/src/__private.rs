//! For code written by the macros only: anything here may change in a patch release.

// One word is less to compile than the four of a path.
pub use std::result::Result::{Err, Ok};

use std::collections::HashMap;
use std::marker::PhantomData;

pub use schemars;
pub use serde;
pub use serde_json::Value;

pub use pgflow_model::{OnSkip, StepKind, StepOptions};

use crate::Error;
pub use crate::aliased::{Alias, Aliased, NoResult, no_result};
pub use crate::check::*;
pub use crate::derived::{
    Believed, Defaulted, Derived, Described, Held, Holdable, HoldableWithoutSchema, NotDerived,
    NotDescribed, NotHeld, impl_data, impl_described, missing, no_default, not_defaulted,
};
#[cfg(feature = "engine")]
pub use crate::emit::{EmitOf, Emits, IsEmit};
pub use crate::extract::{Needed, Unneeded};
pub use crate::flow::Table;
#[cfg(feature = "engine")]
pub use crate::job::{CalledNeed, Job, JobTask, Need, NeedDef, Next, need_future, payload};
use crate::kept::kept;
pub use crate::kept::{AnyKept, Kept, Reader, Unread};
pub use crate::known::{Field, Json, Known, Probe, Unknown};
pub use crate::never::{is_never, refuse_value};
pub use crate::options_described::{flow_options, step_options};
pub use crate::refused::{refused, refused_flattened, refused_keys, refused_tagged};
pub use crate::schedule_def::{ScheduleDef, scheduled};
pub use crate::schema::{outputs_name, outputs_schema};
pub use crate::step_index::{D0, D1, D2, D3, D4, D5, D6, D7, D8, D9};
use crate::task::{StepEnd, StepFuture};
pub use crate::testing::assert_readable;
use crate::wait::Waiting;
pub use crate::{DataError, Flow, RunOutputs, Step, StepDef, Task};

/// What a step's function returns.
pub type Returned<R> = Box<dyn Future<Output = R> + Send>;

/// Puts a step's future into a box. Named as a path: the compiler then explains a future that is not `Send` in the user's
/// words, with neither a bound nor a cast of ours to point at.
pub trait Sent: Future + Sized {
    /// The same future.
    fn sent(self) -> Returned<Self::Output>;
}

impl<F: Future + Send + 'static> Sent for F {
    fn sent(self) -> Returned<F::Output> {
        Box::new(self)
    }
}

/// What a call of a step returns, or why it could not be called.
pub type Called = Result<StepFuture, Error>;

/// A future that ends in JSON.
pub fn future<S: Step, R: 'static, E: 'static>(
    returned: Returned<R>,
    into_result: fn(R) -> Result<S::TaskOutput, E>,
    report: fn(E) -> Error,
) -> Called {
    Ok(Box::pin(async move {
        let output = into_result(Box::into_pin(returned).await).map_err(report)?;
        // The same value would be refused again.
        (kept::<S>().write)(&output).map(StepEnd::Output).map_err(Error::fatal)
    }))
}

/// A future that ends in a wait.
pub fn waiting<S: Step, R: 'static, W: 'static, E: 'static>(
    returned: Returned<R>,
    into_result: fn(R) -> Result<W, E>,
    waits: fn(W) -> Waiting<S::TaskOutput>,
    report: fn(E) -> Error,
) -> Called {
    Ok(Box::pin(async move {
        let waiting = into_result(Box::into_pin(returned).await).map_err(report)?;
        Ok(StepEnd::Waits(Box::new(waits(waiting).into_wait())))
    }))
}

/// Functions that take so many values from a task, and none if one of them cannot be read.
macro_rules! take {
    ($($name:ident: $($value:ident $take:ident),+;)*) => { $(
        #[doc = "Takes these values from a task."]
        #[allow(clippy::too_many_arguments, clippy::type_complexity, clippy::many_single_char_names)]
        pub fn $name<$($value),+>(
            task: &Task,
            $($take: fn(&Task) -> Result<$value, Error>,)+
        ) -> Result<($($value,)+), Error> {
            Ok(($($take(task)?,)+))
        }
    )* };
}

take! {
    take_2: A a, B b;
    take_3: A a, B b, C c;
    take_4: A a, B b, C c, D d;
    take_5: A a, B b, C c, D d, E e;
    take_6: A a, B b, C c, D d, E e, F f;
    take_7: A a, B b, C c, D d, E e, F f, G g;
    take_8: A a, B b, C c, D d, E e, F f, G g, H h;
    take_9: A a, B b, C c, D d, E e, F f, G g, H h, I i;
    take_10: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j;
    take_11: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k;
    take_12: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l;
}

/// The transaction of a step that takes one.
#[cfg(feature = "engine")]
pub fn tx(task: &crate::Task) -> Result<crate::tx::Lent, Error> {
    crate::tx::Lent::new(task.tx()).ok_or_else(|| {
        Error::fatal("this step takes a transaction, and whoever called it has none to give")
    })
}

/// Names a step that another is only ordered after, so that an editor finds it.
pub type Waits<Step> = PhantomData<Step>;

/// Every type is itself.
pub trait Itself {
    type Itself;
}
impl<T> Itself for T {
    type Itself = T;
}

/// Outputs of a run, as they are written one by one.
#[derive(Default)]
pub struct Leaves(serde_json::Map<String, Value>);

impl Leaves {
    /// Adds the output of a map step.
    pub fn all<S: Step>(&mut self, outputs: &[S::TaskOutput]) -> Result<(), DataError> {
        let outputs = outputs.iter().map(kept::<S>().write).collect::<Result<_, _>>()?;
        self.0.insert(S::SLUG.to_owned(), Value::Array(outputs));
        Ok(())
    }

    /// Adds the output of a single step.
    pub fn one<S: Step>(&mut self, output: &S::TaskOutput) -> Result<(), DataError> {
        self.0.insert(S::SLUG.to_owned(), (kept::<S>().write)(output)?);
        Ok(())
    }

    /// The run's output.
    pub fn finish(self) -> Value {
        Value::Object(self.0)
    }
}

/// What a run put out, from another place than the database: the output of a step that waited for it.
pub fn read_output<'de, F: Flow, D: serde::Deserializer<'de>>(
    json: D,
) -> Result<F::Output, D::Error> {
    let leaves = <HashMap<String, Value> as serde::Deserialize>::deserialize(json)?;
    RunOutputs::<F>::new(leaves).output().map_err(serde::de::Error::custom)
}

/// `Debug`, and what makes data of the type of a run's output, whatever its fields are.
#[macro_export]
#[doc(hidden)]
macro_rules! __impl_output {
    ($output:ident of $flow:ident) => {
        impl<'de> $crate::__private::serde::Deserialize<'de> for $output {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                json: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::__private::read_output::<$flow, D>(json)
            }
        }

        impl $crate::__private::schemars::JsonSchema for $output {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $crate::__private::outputs_name(<$flow as $crate::__private::Flow>::SLUG)
            }
            fn json_schema(
                generator: &mut $crate::__private::schemars::SchemaGenerator,
            ) -> $crate::__private::schemars::Schema {
                $crate::__private::outputs_schema(
                    <$flow as $crate::__private::Flow>::DEF,
                    generator,
                )
            }
        }

        impl ::core::fmt::Debug for $output {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let json = self.__write().map_err(|_| ::core::fmt::Error)?;
                ::core::fmt::Display::fmt(&json, f)
            }
        }

        impl $crate::__private::serde::Serialize for $output {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let json = self.__write().map_err($crate::__private::serde::ser::Error::custom)?;
                $crate::__private::serde::Serialize::serialize(&json, serializer)
            }
        }
    };
}
pub use crate::__impl_output as impl_output;
