//! What a test can look at.

use pgflow_machine::{Happened, RunStatus};

use super::{Sim, SimError, key_of};
use crate::backend::Parts;
use crate::check::RunOf;
use crate::client::Run;
use crate::testing::block_on;
use crate::{Flow, Step};

impl Sim {
    /// What a run is.
    pub fn status<F: Flow>(&self, run: &Run<F>) -> RunStatus {
        let found = block_on(self.db.backend().statuses(&[run.id()])).unwrap_or_default();
        found.first().map_or(RunStatus::Started, |run| run.status)
    }

    /// The run's output: that of every step which no other depends on.
    pub fn output<F: Flow>(&self, run: &Run<F>) -> Result<F::Output, SimError> {
        if !self.status(run).has_ended() {
            return Err(SimError::NotEnded { run: run.id() });
        }
        Ok(block_on(run.output())?)
    }

    /// The output of a step, or `None` if it was skipped or has not completed.
    pub fn step_output<S: Step<Flow: Flow>>(
        &self,
        run: &dyn RunOf<S::Flow>,
    ) -> Result<Option<S::Output>, SimError> {
        Ok(block_on(run.of().step_output::<S>())?)
    }

    /// What a step failed with, or was skipped for.
    pub fn error<S: Step<Flow: Flow>>(&self, run: &dyn RunOf<S::Flow>) -> Option<String> {
        let record = block_on(self.db.backend().run(run.of().id(), Parts::Steps)).ok()??;
        record.steps.into_iter().find(|step| step.slug == S::SLUG)?.error
    }

    /// What happened in a run, with all that is recorded of it.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::Sim};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// # use pgflow_runtime::Happened;
    /// let mut sim = Sim::new().flow(ping::Flow);
    /// let run = sim.start(ping::Flow, &())?;
    /// sim.run_until_idle();
    /// let output = serde_json::json!(1);
    /// assert_eq!(sim.events(&run)[2], Happened::StepCompleted { step: "pong".into(), output });
    /// # Ok::<(), pgflow::testing::SimError>(())
    /// ```
    pub fn events<F: Flow>(&self, run: &Run<F>) -> Vec<Happened> {
        let mut events = Vec::new();
        let mut after = 0;
        loop {
            let page = block_on(self.db.backend().events(run.id(), after, u32::MAX));
            let page = page.unwrap_or_default();
            let Some(last) = page.last() else { return events };
            after = last.seq;
            events.extend(page.into_iter().map(|event| event.what));
        }
    }

    /// What happened in a run, in a few words each: `step:completed charge`.
    pub fn log<F: Flow>(&self, run: &Run<F>) -> Vec<String> {
        self.events(run).iter().map(ToString::to_string).collect()
    }

    /// How often a step's function was called, over all runs and tasks: a worker that died may have called it
    /// without telling anybody.
    pub fn calls<S: Step<Flow: Flow>>(&self) -> u32 {
        self.calls.get(&key_of::<S>()).copied().unwrap_or(0)
    }
}
