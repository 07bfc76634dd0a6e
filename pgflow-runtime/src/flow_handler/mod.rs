//! Tasks of flows, as a kind of work that a worker does.
//!
//! | file | concern |
//! |---|---|
//! | `flows`, `served` | what a program brings along, compared with what the database has |
//! | `gated` | steps whose attempts need resources or a rate |
//! | `limits` | steps that fewer tasks of may run at once |
//! | `attempt`, `task_input`, `run_inputs`, `verdict`, `span` | one attempt |
//! | `waiting` | attempts that end by waiting |
//! | `transaction`, `excuses` | steps with a transaction, and databases in trouble |

pub(crate) mod attempt;
mod excuses;
mod flows;
mod gated;
mod limits;
mod run_inputs;
pub(crate) mod served;
mod shared;
mod span;
pub(crate) mod task_input;
mod transaction;
mod verdict;
mod waiting;

use std::sync::Arc;

use pgflow_machine::{Source, Want};

pub(crate) use flows::Flows;

use crate::backend::ClaimedWork;
use crate::worker::{Handler, Label, Prepared, Signals};
use attempt::Attempt;
use gated::Gated;
use limits::StepLimits;
use shared::Shared;

/// Runs the steps of flows.
#[derive(Debug)]
pub(crate) struct FlowHandler {
    shared: Arc<Shared>,
    limits: StepLimits,
    gated: Gated,
}

impl Handler for FlowHandler {
    fn sources(&self) -> Vec<Source> {
        self.shared.served.iter().map(|version| Source::queue(version.slug())).collect()
    }

    fn wants(&mut self) -> Vec<Want> {
        self.gated.apart(self.limits.wants(&self.shared.served))
    }

    fn takes(&self, slug: &str) -> bool {
        self.gated.takes(slug)
    }

    fn call(&mut self, work: ClaimedWork, signals: Signals) -> Result<Prepared, String> {
        let ClaimedWork::Task(task) = work else {
            return Err("jobs are not work for a flow".to_owned());
        };
        let (flow, step) = (&task.flow, &task.lease.task.step);
        let served = self.shared.served(flow);
        let Some((served, step)) = served.and_then(|served| Some((served, served.step(step)?)))
        else {
            // The shape was compared at the start, so the flow was replaced behind our back.
            return Err(format!("this worker has no code for step `{step}` of `{flow}`"));
        };
        let label = Label { flow: served.flow().slug, step: step.slug };
        let attempt = Attempt { served, step, task, signals };
        let (span, shared) = (span::attempt(&attempt), Arc::clone(&self.shared));
        let run = Box::pin(async move { attempt.run(&shared).await });
        Ok(Prepared { label, permit: self.limits.take(label.flow, label.step), span, run })
    }
}
