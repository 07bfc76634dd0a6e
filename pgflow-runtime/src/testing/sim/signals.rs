//! Answers for steps that wait.

use std::future::IntoFuture;

use pgflow_machine::wait::Signalled;

use super::{Sim, SimError};
use crate::backend::WaitRecord;
use crate::check::{AnswerOf, WaitsForAnswer};
use crate::client::Run;
use crate::testing::block_on;
use crate::{Flow, Step};

impl Sim {
    /// Answers a step that waits, or will. What follows is done by [`run_until_idle`](Self::run_until_idle), where also time goes
    /// by until the longest sleep is over and every `wait_timeout` has come: to answer in time, [`run_ready`](Self::run_ready)
    /// comes first.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::testing::Sim;
    /// use std::time::Duration;
    ///
    /// #[flow]
    /// mod article {
    ///     use super::*;
    ///     #[step(wait_timeout = "7d", when_exhausted = skip, max_attempts = 1)]
    ///     pub async fn approval(hook: Hook<bool>) -> Result<Waiting<bool>> { Ok(hook.wait()) }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let mut sim = Sim::new().flow(article::Flow);
    /// let (one, other) = (sim.start(article::Flow, &())?, sim.start(article::Flow, &())?);
    /// sim.run_ready();
    /// sim.advance(Duration::from_secs(6 * 24 * 60 * 60));
    /// sim.signal::<article::approval>(&one, &true)?;
    /// sim.run_until_idle();
    /// assert_eq!(sim.output(&one)?.approval, Some(true));
    /// assert_eq!(sim.output(&other)?.approval, None, "nobody answered within seven days");
    /// # Ok(())
    /// # }
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn signal<S: WaitsForAnswer>(&mut self, run: &Run<<S::Of as Step>::Flow>, answer: impl AnswerOf<S::Answer>) -> Result<Signalled, SimError> {
        Ok(block_on(self.db.signal_step::<S>(run.id(), answer).into_future())?)
    }

    /// What a run waits for, the oldest first.
    pub fn waits<F: Flow>(&self, run: &Run<F>) -> Result<Vec<WaitRecord>, SimError> {
        Ok(block_on(run.waits())?)
    }
}
