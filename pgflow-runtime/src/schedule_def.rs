//! When a flow starts by itself.

use serde_json::Value;

use crate::{DataError, Flow, StartRun};

/// What `#[flow(schedule = …)]` said. The worker that serves the flow keeps it in the database, under the flow's name.
///
/// ```
/// # use pgflow::prelude::*;
/// #[flow(schedule = "0 3 * * MON-FRI", timezone = "Europe/Berlin")]
/// mod nightly {
///     #[step]
///     pub async fn report() -> pgflow::Result<u8> { Ok(1) }
/// }
///
/// let schedule = nightly::Flow::DEF.schedule.as_ref().unwrap();
/// assert_eq!((schedule.cron, schedule.timezone), ("0 3 * * MON-FRI", "Europe/Berlin"));
/// assert_eq!((schedule.missed, schedule.overlap), ("last", "allow"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ScheduleDef {
    /// When, as a cron expression that the compiler has checked.
    pub cron: &'static str,
    /// The time zone in which that is meant.
    pub timezone: &'static str,
    /// What becomes of moments that were missed: `skip`, `last` or `all(n)`.
    pub missed: &'static str,
    /// What becomes of moments that come while a run goes on: `allow`, `skip` or `queue`.
    pub overlap: &'static str,
    /// Makes the input of a run: once for each.
    pub input: fn() -> Result<Value, DataError>,
}

/// The input of a run that a schedule starts.
#[doc(hidden)]
pub fn scheduled<F: Flow>(input: fn() -> F::Input) -> Result<Value, DataError> {
    StartRun::<F>::new(&input()).map(StartRun::into_input)
}
