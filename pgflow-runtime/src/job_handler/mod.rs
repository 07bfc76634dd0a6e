//! Jobs, as a kind of work that a worker does.
//!
//! | file | concern |
//! |---|---|
//! | `kinds` | the kinds of jobs that a program brings along, and needs that others define |
//! | `attempt` | one attempt |
//! | `transaction` | an attempt in the transaction that records its end |
//! | `excuses` | attempts that meet a database in trouble |

mod attempt;
mod excuses;
mod kinds;
mod transaction;

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_machine::{Quota, Source, Want};

pub(crate) use attempt::Attempt;
pub(crate) use excuses::JobExcuses;
pub(crate) use kinds::Kinds;

use crate::States;
use crate::backend::{Backend, ClaimedWork};
use crate::worker::{Handler, InUse, Label, Prepared, Signals};
use kinds::{Code, Declared};

/// Runs the needs of jobs.
#[derive(Debug)]
pub(crate) struct JobHandler {
    needs: HashMap<&'static str, Arc<Code>>,
    states: States,
    declared: Arc<Declared>,
    backend: Arc<dyn Backend>,
    limits: HashMap<String, NeedLimit>,
    excuses: Arc<JobExcuses>,
}

/// How many jobs of a need may run at once, in this process.
#[derive(Debug)]
struct NeedLimit {
    max: usize,
    in_use: InUse,
}

impl NeedLimit {
    /// How many more may be claimed.
    fn quota(&self, need: &str) -> Quota {
        let left = self.max.saturating_sub(self.in_use.count());
        Quota { step: need.to_owned(), max: u32::try_from(left).unwrap_or(u32::MAX) }
    }
}

impl Handler for JobHandler {
    fn sources(&self) -> Vec<Source> {
        self.needs.keys().map(|need| Source::Need((*need).to_owned())).collect()
    }

    fn takes(&self, slug: &str) -> bool {
        self.needs.values().filter_map(|code| code.stage()).any(|stage| stage.takes(slug))
    }

    fn wants(&mut self) -> Vec<Want> {
        let want = |(need, code): (&&str, &Arc<Code>)| Want {
            source: Source::Need((*need).to_owned()),
            quotas: self.limits.get(*need).map(|limit| limit.quota(need)).into_iter().collect(),
            lease: code.lease(),
            stage: code.stage(),
            ahead: 0,
        };
        self.needs.iter().map(want).collect()
    }

    fn call(&mut self, work: ClaimedWork, signals: Signals) -> Result<Prepared, String> {
        let lease = work.lease();
        let job = match work {
            ClaimedWork::Job(job, _) => *job,
            ClaimedWork::Messages(batch) => {
                batch.messages.into_iter().next().ok_or("a claim of nothing")?
            }
            ClaimedWork::Task(_) => return Err("tasks are not work for jobs".to_owned()),
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
        let permit = self.limits.get(*name).map(|limit| limit.in_use.take());
        let (backend, excuses) = (Arc::clone(&self.backend), Arc::clone(&self.excuses));
        let declared = Arc::clone(&self.declared);
        let attempt = Attempt { code, job, states, declared, signals, backend, lease, excuses };
        Ok(Prepared { label, permit, span, run: Box::pin(attempt.run()) })
    }
}
