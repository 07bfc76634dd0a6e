//! Parameters that do not come from the run's data.

use std::any::{TypeId, type_name};

use crate::{Context, Error, State, Task};

/// What a step's parameter can be besides data: its context, or application state.
///
/// ```
/// use pgflow::{State, definition::Extract};
///
/// assert_eq!(<State<u32> as Extract>::NEED.unwrap().type_name(), "u32");
/// assert!(<pgflow::Context as Extract>::NEED.is_none());
/// ```
pub trait Extract: Sized {
    /// What must be there before the first step runs.
    const NEED: Option<Need>;

    /// Takes it from the task that is about to run.
    fn extract(task: &Task) -> Result<Self, Error>;
}

/// A type of application state that a step needs.
///
/// ```
/// let need = pgflow::definition::Need::of::<String>();
/// assert_eq!(need.type_name(), "alloc::string::String");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Need {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
}

impl Need {
    /// The need for a value of type `T`.
    ///
    /// ```
    /// assert_eq!(pgflow::definition::Need::of::<u8>().type_name(), "u8");
    /// ```
    pub const fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>, name: type_name::<T> }
    }

    /// The type, for people.
    ///
    /// ```
    /// assert_eq!(pgflow::definition::Need::of::<bool>().type_name(), "bool");
    /// ```
    pub fn type_name(&self) -> &'static str {
        (self.name)()
    }

    pub(crate) fn type_id(&self) -> TypeId {
        (self.id)()
    }
}

impl Extract for Context {
    const NEED: Option<Need> = None;

    fn extract(task: &Task) -> Result<Self, Error> {
        Ok(task.context().clone())
    }
}

impl<T: Clone + Send + Sync + 'static> Extract for State<T> {
    const NEED: Option<Need> = Some(Need::of::<T>());

    fn extract(task: &Task) -> Result<Self, Error> {
        task.states().get().map(Self).ok_or_else(|| {
            Error::fatal(format!("application state `{}` was not given", type_name::<T>()))
        })
    }
}

/// `Needed::<T>::NEED` is what a parameter of type `T` needs. That `T` can be a parameter at all is checked
/// where it is taken, and said there.
pub struct Needed<T>(std::marker::PhantomData<T>);

impl<T: Extract> Needed<T> {
    /// What it says itself.
    pub const NEED: Option<Need> = T::NEED;
}

/// See [`Needed`].
pub trait Unneeded {
    /// Nothing.
    const NEED: Option<Need> = None;
}
impl<T> Unneeded for Needed<T> {}
