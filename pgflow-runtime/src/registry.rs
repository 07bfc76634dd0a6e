//! The flows of a program.

use std::collections::HashMap;

use crate::check::Runs;
use crate::{FlowDef, States, pattern_check};

/// The flows of a program, each version under a slug of its own.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// let registry = pgflow::definition::Registry::default().with(ping::Flow)?;
/// assert_eq!(registry.flow("ping").unwrap().slug, "ping");
/// # Ok::<(), pgflow::definition::RegisterError>(())
/// ```
#[derive(Debug, Default)]
pub struct Registry {
    flows: Vec<&'static FlowDef>,
    /// Positions in `flows` by slug in lower case: the database does not tell cases apart.
    by_slug: HashMap<String, usize>,
}

/// Why a flow cannot be registered, or not be run with what the program offers.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(slug = "same")] mod one { #[step] pub async fn a() -> pgflow::Result<u8> { Ok(1) } }
/// let twice = pgflow::definition::Registry::default().with(one::Flow)?.with(one::Flow);
/// assert_eq!(twice.unwrap_err().to_string(), "there are two flows with the slug `same`");
/// # Ok::<(), pgflow::definition::RegisterError>(())
/// ```
#[derive(thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another flow has its slug, up to case.
    #[error("there are two flows with the slug `{slug}`")]
    DuplicateSlug {
        /// The slug of the later one.
        slug: &'static str,
    },
    /// A condition names a field that what it tests does not have.
    #[error("`{option}` of step `{step}` in flow `{flow}` names `{path}`, which is not there")]
    UnknownField {
        /// Slug of the flow.
        flow: &'static str,
        /// Slug of the step.
        step: &'static str,
        /// `only_if` or `unless`.
        option: &'static str,
        /// The field, and the fields around it.
        path: String,
    },
    /// A step takes application state that the program did not give.
    #[error("step `{step}` in flow `{flow}` takes `State<{type_name}>`, which was not given")]
    MissingState {
        /// Slug of the flow.
        flow: &'static str,
        /// Slug of the step.
        step: &'static str,
        /// The missing type.
        type_name: &'static str,
    },
}

pgflow_model::debug_with_causes!(RegisterError);

impl Registry {
    /// The same flows and one more.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let registry = pgflow::definition::Registry::default().with(ping::Flow)?;
    /// assert!(registry.with(ping::Flow).is_err());
    /// # Ok::<(), pgflow::definition::RegisterError>(())
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn with<F>(mut self, _flow: F) -> Result<Self, RegisterError> where Self: Runs<F> {
        let flow = <Self as Runs<F>>::DEF;
        pattern_check::check(flow)?;
        let slug = flow.version_slug.to_ascii_lowercase();
        if self.by_slug.insert(slug, self.flows.len()).is_some() {
            return Err(RegisterError::DuplicateSlug { slug: flow.version_slug });
        }
        self.flows.push(flow);
        Ok(self)
    }

    /// The flow, or the version of one, that has this slug in the database.
    ///
    /// ```
    /// assert!(pgflow::definition::Registry::default().flow("ping").is_none());
    /// ```
    pub fn flow(&self, slug: &str) -> Option<&'static FlowDef> {
        let at = *self.by_slug.get(&slug.to_ascii_lowercase())?;
        self.flows.get(at).copied().filter(|flow| flow.version_slug == slug)
    }

    /// Every flow, in the order they were added.
    ///
    /// ```
    /// assert_eq!(pgflow::definition::Registry::default().flows().count(), 0);
    /// ```
    pub fn flows(&self) -> impl Iterator<Item = &'static FlowDef> {
        self.flows.iter().copied()
    }

    /// Whether the program offers all application state that its flows take.
    ///
    /// ```
    /// # use pgflow::{prelude::*, definition::{Registry, States}};
    /// #[flow]
    /// mod mail {
    ///     use pgflow::prelude::*;
    ///     #[step]
    ///     pub async fn send(server: State<String>) -> Result<u8> { Ok(0) }
    /// }
    ///
    /// let registry = Registry::default().with(mail::Flow)?;
    /// assert!(registry.check_states(&States::default()).is_err());
    /// assert!(registry.check_states(&States::default().with(String::from("smtp"))).is_ok());
    /// # Ok::<(), pgflow::definition::RegisterError>(())
    /// ```
    pub fn check_states(&self, states: &States) -> Result<(), RegisterError> {
        self.flows.iter().try_for_each(|flow| check_states(flow, states))
    }
}

pub(crate) fn check_states(flow: &FlowDef, states: &States) -> Result<(), RegisterError> {
    for step in flow.steps {
        let needs = step.needs.iter().flatten();
        if let Some(need) = needs.into_iter().find(|need| !states.has(need.type_id())) {
            let (flow, step, type_name) = (flow.slug, step.slug, need.type_name());
            return Err(RegisterError::MissingState { flow, step, type_name });
        }
    }
    Ok(())
}
