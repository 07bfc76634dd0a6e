//! What a run left behind, with its types.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use crate::check::StepOf;
use crate::kept::kept;
use crate::{DataError, Flow, Step};

/// Outputs of the steps of a run of flow `F`, read by the step's own type.
///
/// ```
/// use pgflow::prelude::*;
/// use serde_json::json;
///
/// #[flow(input = u8)]
/// mod count {
///     #[step]
///     pub async fn next(run: u8) -> pgflow::Result<u8> { Ok(run + 1) }
///     #[step(depends_on = next)]
///     pub async fn text(next: u8) -> pgflow::Result<String> { Ok(next.to_string()) }
/// }
///
/// let run = pgflow::definition::RunOutputs::<count::Flow>::new([("next", json!(8)), ("text", json!("8"))]);
/// assert_eq!(run.step::<count::next>()?, Some(8));
/// assert_eq!(run.output()?.text, "8");
/// # Ok::<(), pgflow::definition::DataError>(())
/// ```
pub struct RunOutputs<F> {
    by_slug: HashMap<Arc<str>, Arc<Value>>,
    flow: PhantomData<fn() -> F>,
}

impl<F> RunOutputs<F> {
    /// From the outputs of completed steps, or of the leaves alone: a run's `output`.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let run = pgflow::definition::RunOutputs::<ping::Flow>::new([("pong", serde_json::json!(1))]);
    /// assert_eq!(run.output()?.pong, 1);
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    pub fn new<Slug: Into<Arc<str>>, Json: Into<Arc<Value>>>(
        outputs: impl IntoIterator<Item = (Slug, Json)>,
    ) -> Self {
        let by_slug = outputs.into_iter().map(|(slug, json)| (slug.into(), json.into())).collect();
        Self { by_slug, flow: PhantomData }
    }
}

impl<F: Flow> RunOutputs<F> {
    /// The output of a step, or `None` if it was skipped or has not completed.
    ///
    /// Only steps of this flow have one here; asking for another's does not compile.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let run = pgflow::definition::RunOutputs::<ping::Flow>::new([("pong", serde_json::json!(1))]);
    /// assert_eq!(run.step::<ping::pong>()?, Some(1));
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    pub fn step<S: StepOf<F>>(&self) -> Result<Option<S::Read>, DataError> {
        Ok(self.read::<S>()?.map(S::read))
    }

    /// The run's output: that of every step which no other depends on.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let run = pgflow::definition::RunOutputs::<ping::Flow>::new([("pong", serde_json::json!(1))]);
    /// let ping::Output { pong } = run.output()?;
    /// assert_eq!(pong, 1);
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    pub fn output(&self) -> Result<F::Output, DataError> {
        F::READ_OUTPUT(self)
    }

    /// The output of a step that cannot be skipped.
    #[doc(hidden)]
    pub fn leaf<S: Step<Flow = F>>(&self) -> Result<S::Output, DataError> {
        self.read::<S>()?.ok_or_else(|| DataError::Missing { step: S::SLUG.to_owned() })
    }

    fn read<S: Step>(&self) -> Result<Option<S::Output>, DataError> {
        self.by_slug.get(S::SLUG).map(|json| (kept::<S>().read)(json)).transpose()
    }
}

impl<F> std::fmt::Debug for RunOutputs<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(&self.by_slug).finish()
    }
}
