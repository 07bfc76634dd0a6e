//! Jobs, as a kind of work that a worker does.
//!
//! | file | concern |
//! |---|---|
//! | `kinds` | the kinds of jobs that a program brings along, and needs that others define |
//! | `attempt` | one attempt |
//! | `transaction` | an attempt in the transaction that records its end |

mod attempt;
mod kinds;
mod transaction;

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_machine::{Source, Want};

pub(crate) use kinds::Kinds;

use crate::States;
use crate::backend::{Backend, ClaimedWork};
use crate::worker::{Handler, Label, Prepared, Signals};
use attempt::Attempt;
use kinds::Code;

/// Runs the needs of jobs.
#[derive(Debug)]
pub(crate) struct JobHandler {
    needs: HashMap<&'static str, Arc<Code>>,
    states: States,
    backend: Arc<dyn Backend>,
}

impl Handler for JobHandler {
    fn sources(&self) -> Vec<Source> {
        self.needs.keys().map(|need| Source::Need((*need).to_owned())).collect()
    }

    fn wants(&mut self) -> Vec<Want> {
        let want = |(need, code): (&&str, &Arc<Code>)| Want {
            source: Source::Need((*need).to_owned()),
            quotas: Vec::new(),
            lease: code.lease(),
        };
        self.needs.iter().map(want).collect()
    }

    fn call(&mut self, work: ClaimedWork, signals: Signals) -> Result<Prepared, String> {
        let ClaimedWork::Job(job, _) = work else {
            return Err("tasks are not work for jobs".to_owned());
        };
        let need = job.taken.row.need.as_str();
        let Some((name, code)) = self.needs.get_key_value(need) else {
            return Err(format!("this worker has no code for need `{need}`"));
        };
        let label = Label { flow: "job", step: name };
        let span = tracing::info_span!(
            "job",
            job.id = %job.taken.hold.job,
            need = name,
            attempt = job.taken.row.attempts,
        );
        let (code, states) = (Arc::clone(code), self.states.clone());
        let backend = Arc::clone(&self.backend);
        let attempt = Attempt { code, job: *job, states, signals, backend };
        Ok(Prepared { label, permit: None, span, run: Box::pin(attempt.run()) })
    }
}
