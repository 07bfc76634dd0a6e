//! What comes next for a job.

use std::fmt;
use std::marker::PhantomData;

use pgflow_machine::job::{HandOver, Moment};
use serde_json::Value;

use super::Need;
use crate::check::{EndsWith, HandsTo, Lasts, WaitsFor};
use crate::{DataError, Timestamp};

/// What comes next for a job, as its need returns it: it is done, or it needs something else.
///
/// Inside of a `#[job]` module, `Next` is this type for the module's kind of job: it hands over to the needs of that kind
/// only, with the payload that each of them takes.
///
/// ```
/// use pgflow::prelude::*;
/// use std::time::Duration;
///
/// #[job]
/// mod parcel {
///     use super::*;
///
///     #[need]
///     pub async fn weigh(job: u32) -> Result<Next> {
///         if job == 0 {
///             return Ok(Next::done("nothing to send"));
///         }
///         Ok(Next::to::<send>(job).delay(Duration::from_secs(60)))
///     }
///
///     #[need]
///     pub async fn send(job: u32) -> Result<Next> {
///         Ok(Next::done(job))
///     }
/// }
/// # fn main() -> Result<()> {
/// # let next = pgflow::testing::block_on(parcel::weigh(7))?;
/// # assert_eq!(format!("{next:?}"), r#"Next(to "parcel.send" with 7)"#);
/// # Ok(())
/// # }
/// ```
#[must_use = "a need returns what comes next"]
pub struct Next<Job> {
    ending: Result<Ending, DataError>,
    job: PhantomData<fn() -> Job>,
}

/// The end of an attempt that went well.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The job is done, with this output.
    Done(Value),
    /// It needs something else.
    HandedOver(HandOver),
}

impl<Job> Next<Job> {
    /// The job is done. What it put out is there to be read.
    ///
    /// ```
    /// # use pgflow::job::Next;
    /// let next = Next::<()>::done(42);
    /// assert_eq!(format!("{next:?}"), "Next(done with 42)");
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "the job takes it along")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn done<T>(output: T) -> Self where Self: EndsWith<T> {
        Self::ending(Self::stored(&output).map(Ending::Done))
    }

    /// The job goes on to another need of its kind, or to the same one again. It keeps its place in line, its key and the
    /// moment at which it expires.
    #[expect(clippy::needless_pass_by_value, reason = "the job takes it along")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn to<N>(payload: <Self as HandsTo<N>>::Payload) -> Self where Self: HandsTo<N> {
        Self::handing_over::<<Self as HandsTo<N>>::Need>(&payload)
    }

    fn handing_over<N: Need>(payload: &N::Payload) -> Self {
        let payload = ((N::KEPT)().write)(payload);
        Self::ending(payload.map(|payload| {
            let max_attempts = N::DEF.max_attempts;
            Ending::HandedOver(HandOver {
                payload: Some(payload),
                max_attempts,
                ..HandOver::to(N::DEF.name)
            })
        }))
    }

    /// The job goes on to a need that other programs, or other languages, define. It has any number of attempts there.
    ///
    /// ```
    /// # use pgflow::job::Next;
    /// let next = Next::<()>::to_raw("python.transform", serde_json::json!({ "rows": 3 }));
    /// assert_eq!(format!("{next:?}"), r#"Next(to "python.transform" with {"rows":3})"#);
    /// ```
    pub fn to_raw(need: impl Into<String>, payload: Value) -> Self {
        Self::ending(Ok(Ending::HandedOver(HandOver {
            payload: Some(payload),
            ..HandOver::to(need)
        })))
    }

    /// Not before these are over: jobs, and runs of flows. A job that is done waits for nothing.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn after<I>(self, waits: I) -> Self where Self: WaitsFor<I> {
        self.handed_over(|hand_over| hand_over.after.extend(<Self as WaitsFor<I>>::waits(waits)))
    }

    /// Not before so much time has passed, by the database's clock.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn delay<D>(self, delay: D) -> Self where Self: Lasts<D> {
        let delay = <Self as Lasts<D>>::time(delay);
        self.handed_over(|hand_over| hand_over.wake = Some(Moment::In(delay)))
    }

    /// Not before this moment.
    pub fn at(self, moment: Timestamp) -> Self {
        self.handed_over(|hand_over| hand_over.wake = Some(Moment::At(moment)))
    }

    fn ending(ending: Result<Ending, DataError>) -> Self {
        Self { ending, job: PhantomData }
    }

    fn handed_over(mut self, change: impl FnOnce(&mut HandOver)) -> Self {
        if let Ok(Ending::HandedOver(hand_over)) = &mut self.ending {
            change(hand_over);
        }
        self
    }

    /// What it says, or what cannot be stored of it.
    #[doc(hidden)]
    pub fn into_ending(self) -> Result<Ending, DataError> {
        self.ending
    }
}

/// As people read it.
impl<Job> fmt::Debug for Next<Job> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ending {
            Ok(Ending::Done(output)) => write!(f, "Next(done with {output})"),
            Ok(Ending::HandedOver(HandOver { need, payload, .. })) => {
                write!(f, "Next(to {need:?} with {})", payload.as_ref().unwrap_or(&Value::Null))
            }
            Err(error) => write!(f, "Next({error})"),
        }
    }
}
