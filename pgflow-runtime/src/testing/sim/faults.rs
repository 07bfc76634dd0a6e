//! What goes wrong, as a test says.

use std::collections::{HashMap, VecDeque};

use pgflow_machine::{Retry, Verdict};
use serde::Serialize;

use super::{Crash, Sim, StepKey, key_of};
use crate::check::OutputOf;
use crate::data_error::{What, write};
use crate::{Flow, Step};

/// What happens to an attempt.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// It fails with this, and the step's function is not called.
    Fails(Verdict),
    /// Its worker dies.
    Crashes(Crash),
}

/// What happens to the next attempts of steps.
#[derive(Debug, Default)]
pub(super) struct Faults(HashMap<StepKey, VecDeque<Fault>>);

impl Faults {
    pub(super) fn add(&mut self, key: StepKey, times: u32, fault: &Fault) {
        let faults = self.0.entry(key).or_default();
        faults.extend((0..times).map(|_| fault.clone()));
    }

    /// What happens to the next attempt of a step.
    pub(super) fn take(&mut self, key: StepKey) -> Option<Fault> {
        self.0.get_mut(&key)?.pop_front()
    }

    /// Takes the next fault of a step if it is a crash right after the claim.
    pub(super) fn take_crash_after_claim(&mut self, key: StepKey) -> bool {
        let Some(faults) = self.0.get_mut(&key) else { return false };
        let is_so = matches!(faults.front(), Some(Fault::Crashes(Crash::AfterClaim)));
        is_so && faults.pop_front().is_some()
    }
}

impl Sim {
    /// Lets the next attempts of a step fail with this error, without calling its function. Attempts that were
    /// spoken for before come first.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::Sim};
    /// # #[flow] mod ping { #[step(max_attempts = 3)] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let mut sim = Sim::new().flow(ping::Flow);
    /// let run = sim.start(ping::Flow, &())?;
    /// sim.fail::<ping::pong>(3, "no answer");
    /// sim.run_until_idle();
    /// assert_eq!(sim.error::<ping::pong>(&run).as_deref(), Some("no answer"));
    /// # Ok::<(), pgflow::testing::SimError>(())
    /// ```
    pub fn fail<S: Step<Flow: Flow>>(&mut self, times: u32, error: &str) {
        let verdict = Verdict::Failed { error: error.to_owned(), retry: Retry::ByPolicy };
        self.faults.add(key_of::<S>(), times, &Fault::Fails(verdict));
    }

    /// Lets the next attempt of a step fail so that no other would help, as
    /// [`Error::fatal`](crate::Error::fatal) does.
    pub fn fail_for_good<S: Step<Flow: Flow>>(&mut self, error: &str) {
        let verdict = Verdict::Failed { error: error.to_owned(), retry: Retry::Never };
        self.faults.add(key_of::<S>(), 1, &Fault::Fails(verdict));
    }

    /// Lets all attempts of a step that have no other fault return this, without calling its
    /// function: for a step whose world is not there in a test. Of a map, it is what each task returns.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::Sim};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let mut sim = Sim::new().flow(ping::Flow);
    /// let run = sim.start(ping::Flow, &())?;
    /// sim.returns::<ping::pong>(&42);
    /// sim.run_until_idle();
    /// assert_eq!((sim.output(&run)?.pong, sim.calls::<ping::pong>()), (42, 0));
    /// # Ok::<(), pgflow::testing::SimError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If no database could store the value.
    pub fn returns<S: Step<Flow: Flow>>(&mut self, output: &dyn OutputOf<S::TaskOutput>)
    where
        S::TaskOutput: Serialize,
    {
        let value =
            write(What::Output(S::SLUG), output.given()).unwrap_or_else(|why| panic!("{why}"));
        self.returns.insert(key_of::<S>(), value);
    }

    /// Lets the worker die at the next attempts of a step, and another take its place. All tasks that it holds
    /// are lost with it until their leases end.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::{Crash, Sim}};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let mut sim = Sim::new().flow(ping::Flow);
    /// let run = sim.start(ping::Flow, &())?;
    /// sim.crash::<ping::pong>(Crash::AfterClaim, 4);
    /// sim.run_until_idle();
    /// // A task that takes its workers down with it is not tried for ever.
    /// let error = "stalled: task 0 was lost by its worker 4 times";
    /// assert_eq!(sim.error::<ping::pong>(&run).as_deref(), Some(error));
    /// # Ok::<(), pgflow::testing::SimError>(())
    /// ```
    pub fn crash<S: Step<Flow: Flow>>(&mut self, moment: Crash, times: u32) {
        self.faults.add(key_of::<S>(), times, &Fault::Crashes(moment));
    }
}
