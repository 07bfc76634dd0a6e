//! The kinds of jobs that a program brings along.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::permit::Stage;
use serde_json::Value;

use super::{JobHandler, NeedLimit};
use crate::backend::Backend;
use crate::job::{Ending, Job, JobContext, JobProblem, JobTask, NeedDef, Next};
use crate::tx::TxSlot;
use crate::worker::{InUse, WorkerError, taking};
use crate::{Error, Result, States};

/// What a need's function leads to, behind JSON.
pub(crate) type Called = Pin<Box<dyn Future<Output = Result<Ending>> + Send>>;

/// A need of another language, or of no kind of job.
pub(crate) type Raw = Box<dyn Fn(Value, JobContext) -> Called + Send + Sync>;

/// Code for a need.
pub(crate) enum Code {
    /// Of a kind of job.
    Typed(&'static NeedDef),
    /// Of its own.
    Raw(Raw),
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Typed(def) => write!(f, "Typed({})", def.name),
            Self::Raw(_) => f.write_str("Raw"),
        }
    }
}

impl Code {
    /// Whether it takes the transaction that records how its attempt ended.
    pub(crate) fn takes_tx(&self) -> bool {
        matches!(self, Self::Typed(def) if def.takes_tx)
    }

    /// Calls it, in this transaction if it takes one.
    pub(super) async fn call(
        &self,
        context: &JobContext,
        payload: Value,
        states: &States,
        tx: Option<TxSlot>,
    ) -> Result<Ending> {
        match self {
            Self::Typed(def) => {
                let task = JobTask::new(context.clone(), payload).with_states(states.clone());
                (def.call)(&tx.into_iter().fold(task, JobTask::with_tx))?.await
            }
            Self::Raw(raw) => raw(payload, context.clone()).await,
        }
    }

    /// What a claim has to get for an attempt, if that is anything.
    pub(crate) fn stage(&self) -> Option<Stage> {
        let Self::Typed(NeedDef { resources, rate, .. }) = self else { return None };
        taking::stage(resources, *rate)
    }

    /// How long a lease lasts, if it says so.
    pub(crate) fn lease(&self) -> Option<Duration> {
        match self {
            Self::Typed(def) => def.lease.map(|seconds| Duration::from_secs(seconds.into())),
            Self::Raw(_) => None,
        }
    }

    /// How often a job may be claimed for it, if it says so.
    pub(super) fn max_attempts(&self) -> Option<u32> {
        match self {
            Self::Typed(def) => def.max_attempts,
            Self::Raw(_) => None,
        }
    }

    /// Seconds before the second attempt.
    pub(super) fn base_delay(&self) -> u32 {
        match self {
            Self::Typed(NeedDef { base_delay: Some(seconds), .. }) => *seconds,
            _ => 1,
        }
    }
}

/// What kinds of jobs say about names of needs: which there are below theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    kinds: HashSet<&'static str>,
    needs: HashSet<&'static str>,
}

impl Declared {
    /// Refuses a need that would be of one of these kinds, which has none of that name.
    pub(super) fn check(&self, need: &str) -> Result<(), JobProblem> {
        match need.split_once('.') {
            Some((kind, _)) if self.kinds.contains(kind) && !self.needs.contains(need) => {
                Err(JobProblem::UnknownNeed { kind: kind.to_owned(), need: need.to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// The kinds of jobs that a program brings along, with what their needs want.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    needs: HashMap<&'static str, Arc<Code>>,
    states: States,
    declared: Arc<Declared>,
    /// A need that two bring along.
    twice: Option<&'static str>,
    /// Needs that fewer jobs of may run at once.
    limits: HashMap<String, usize>,
}

impl Kinds {
    pub(crate) fn with<J: Job>(mut self) -> Self {
        let declared = Arc::make_mut(&mut self.declared);
        declared.kinds.insert(J::NAME);
        declared.needs.extend(J::NEEDS.iter().map(|def| def.name));
        for def in J::NEEDS.iter().copied().filter(|def| !def.is_external) {
            self.add(def.name, Code::Typed(def));
        }
        self
    }

    pub(crate) fn with_raw<F, R>(mut self, need: &str, handler: F) -> Self
    where
        F: Fn(Value, JobContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Next<()>>> + Send + 'static,
    {
        let raw = move |payload, context| -> Called {
            let next = handler(payload, context);
            Box::pin(async move { next.await?.into_ending().map_err(Error::fatal) })
        };
        // A worker has few of them, for as long as its process lives.
        let need = need.to_owned().leak();
        Arc::make_mut(&mut self.declared).needs.insert(need);
        self.add(need, Code::Raw(Box::new(raw)));
        self
    }

    pub(crate) fn limit(mut self, need: &str, max: usize) -> Self {
        self.limits.insert(need.to_owned(), max);
        self
    }

    fn add(&mut self, need: &'static str, code: Code) {
        if self.needs.insert(need, Arc::new(code)).is_some() {
            self.twice = Some(need);
        }
    }

    pub(crate) fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        Self { states: self.states.with(value), ..self }
    }

    /// Its needs, by name.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.needs.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// What is known of names of needs.
    pub(crate) fn declared(&self) -> Arc<Declared> {
        Arc::clone(&self.declared)
    }

    /// The code for a need.
    pub(crate) fn code(&self, need: &str) -> Option<(&'static str, Arc<Code>)> {
        let (name, code) = self.needs.get_key_value(need)?;
        Some((name, Arc::clone(code)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// Ready to work, or why not.
    pub(crate) async fn start(self, backend: Arc<dyn Backend>) -> Result<JobHandler, WorkerError> {
        let Self { needs, states, declared, twice, limits } = self;
        if let Some(need) = twice {
            return Err(WorkerError::NeedTwice { need });
        }
        backend.jobs()?;
        let stages: Vec<_> = needs.values().filter_map(|code| code.stage()).collect();
        for stage in &stages {
            taking::check(backend.as_ref(), stage).await?;
        }
        let stages =
            needs.iter().map(|(need, code)| ((*need).to_owned(), code.stage().unwrap_or_default()));
        taking::note(backend.as_ref(), stages.collect()).await?;
        for (need, code) in &needs {
            let Code::Typed(def) = &**code else { continue };
            if def.takes_tx && !backend.abilities().transactions {
                return Err(WorkerError::NoTransaction { need, backend: backend.name() });
            }
            for state in def.states.iter().flatten() {
                if !states.has(state.type_id()) {
                    return Err(WorkerError::NeedsState { need, state: state.type_name() });
                }
            }
        }
        for (need, max) in &limits {
            if *max == 0 || !needs.contains_key(need.as_str()) {
                return Err(WorkerError::NeedLimit { need: need.clone(), max: *max });
            }
        }
        let limit = |(need, max)| (need, NeedLimit { max, in_use: InUse::default() });
        let limits = limits.into_iter().map(limit).collect();
        Ok(JobHandler { needs, states, declared, backend, limits, excuses: Arc::default() })
    }
}
