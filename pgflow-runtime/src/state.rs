//! Application state: what steps share with the program around them.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// A value of the application, such as a connection pool, as a step's parameter.
///
/// The parameter may have any name, and may be taken apart at once: `State(mailer): State<Mailer>`.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[derive(Clone)]
/// struct Greeting(&'static str);
///
/// #[flow(input = String)]
/// mod hello {
///     use super::*;
///
///     #[step]
///     pub async fn greet(run: String, State(greeting): State<Greeting>) -> Result<String> {
///         Ok(format!("{}, {run}!", greeting.0))
///     }
/// }
///
/// fn main() -> Result<()> {
///     let greeting = State(Greeting("Hi"));
///     let text = pgflow::testing::block_on(hello::greet("Ann".into(), greeting))?;
///     assert_eq!(text, "Hi, Ann!");
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<T>(pub T);

impl<T> std::ops::Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Values of the application by type, at most one of each.
///
/// ```
/// let states = pgflow::definition::States::default().with(5_u32).with("text");
/// assert_eq!(states.get::<u32>(), Some(5));
/// assert_eq!(states.get::<bool>(), None);
/// ```
#[derive(Clone, Default)]
pub struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    /// The same values and one more, in place of any of the same type.
    ///
    /// ```
    /// assert_eq!(pgflow::definition::States::default().with(1).with(2).get(), Some(2));
    /// ```
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// A copy of the value of this type.
    ///
    /// ```
    /// assert_eq!(pgflow::definition::States::default().get::<u32>(), None);
    /// ```
    pub fn get<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref::<T>().cloned()
    }

    pub(crate) fn has(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
    }
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "States({})", self.0.len())
    }
}
