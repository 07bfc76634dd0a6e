//! Kinds of work: what a worker has to know of them.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;

use pgflow_machine::{Settled, Source, Verdict, Want};
use tracing::Span;

use super::{Permit, Pulse};
use crate::backend::{ClaimedWork, Topic};
use crate::cancel::Cancel;

/// A kind of work, such as the tasks of flows. A worker claims for all of its handlers in one call, keeps leases, and
/// records what comes of the attempts.
pub(crate) trait Handler: fmt::Debug + Send + Sync {
    /// Where its work comes from. It stays the same while the worker works.
    fn sources(&self) -> Vec<Source>;

    /// Whether it may wait for this resource or rate.
    fn takes(&self, slug: &str) -> bool {
        let _ = slug;
        false
    }

    /// What it has room for now, of its sources. Called for each claim.
    fn wants(&mut self) -> Vec<Want>;

    /// What it takes along before the worker leaves: partial batches. Called for each claim until there is no more.
    fn last_wants(&mut self) -> Vec<Want> {
        Vec::new()
    }

    /// How many more may be claimed before there is room for them.
    fn ahead(&self) -> u32 {
        0
    }

    /// What one claim got, before any of it begins.
    fn claimed(&mut self, work: &[ClaimedWork]) {
        let _ = work;
    }

    /// A place among what was claimed ahead, if this cannot begin now; `is_full` says that the worker has no room for anything.
    fn wait(&mut self, work: &ClaimedWork, is_full: bool) -> Option<Permit> {
        let _ = (work, is_full);
        None
    }

    /// What was claimed will not begin here.
    fn forget(&mut self, work: &ClaimedWork) {
        let _ = work;
    }

    /// An attempt at what was claimed from one of its sources; an error says that there is no code for it.
    fn call(&mut self, work: ClaimedWork, signals: Signals) -> Result<Prepared, String>;
}

/// What a worker and an attempt tell each other while that runs. Clones share everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    /// To stop.
    pub(crate) cancel: Cancel,
    /// That its time runs.
    pub(crate) pulse: Pulse,
}

/// An attempt that is about to run.
pub(crate) struct Prepared {
    pub(crate) label: Label,
    /// Room that it takes, besides the worker's.
    pub(crate) permit: Option<Permit>,
    /// What tracing knows of it.
    pub(crate) span: Span,
    pub(crate) run: Pin<Box<dyn Future<Output = Ended> + Send>>,
}

/// What an attempt is at, for metrics and logs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) flow: &'static str,
    pub(crate) step: &'static str,
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// To be recorded.
    Verdict(Verdict),
    /// Recorded already, in the transaction of the step.
    Recorded(Settled),
    /// The lease was gone before it began, or the task is unknown by now.
    Nothing,
}

/// The handlers of a worker.
#[derive(Debug)]
pub(super) struct Handlers {
    all: Vec<Box<dyn Handler>>,
    /// Which of them has a source.
    by_source: HashMap<Source, usize>,
}

impl Handlers {
    pub(super) fn new(all: Vec<Box<dyn Handler>>) -> Self {
        let sources = all.iter().enumerate().flat_map(|(at, handler)| {
            handler.sources().into_iter().map(move |source| (source, at))
        });
        let by_source = sources.collect();
        Self { all, by_source }
    }

    /// Whether there is nothing to claim.
    pub(super) fn is_empty(&self) -> bool {
        self.by_source.is_empty()
    }

    pub(super) fn sources(&self) -> Vec<Source> {
        self.all.iter().flat_map(|handler| handler.sources()).collect()
    }

    pub(super) fn wants(&mut self) -> Vec<Want> {
        self.all.iter_mut().flat_map(|handler| handler.wants()).collect()
    }

    pub(super) fn last_wants(&mut self) -> Vec<Want> {
        self.all.iter_mut().flat_map(|handler| handler.last_wants()).collect()
    }

    /// How many more may be claimed before there is room for them.
    pub(super) fn ahead(&self) -> u32 {
        self.all.iter().map(|handler| handler.ahead()).sum()
    }

    /// What one claim got, before any of it begins.
    pub(super) fn claimed(&mut self, work: &[ClaimedWork]) {
        self.all.iter_mut().for_each(|handler| handler.claimed(work));
    }

    /// A place among what was claimed ahead, if this cannot begin now.
    pub(super) fn wait(&mut self, work: &ClaimedWork, is_full: bool) -> Option<Permit> {
        let at = *self.by_source.get(&work.source())?;
        self.all[at].wait(work, is_full)
    }

    /// What was claimed will not begin here.
    pub(super) fn forget(&mut self, work: &ClaimedWork) {
        self.all.iter_mut().for_each(|handler| handler.forget(work));
    }

    /// Whether there are jobs among them.
    pub(super) fn have_needs(&self) -> bool {
        self.by_source.keys().any(|source| source.as_need().is_some())
    }

    /// Whether a hint says that there may be something to claim.
    pub(super) fn wait_for(&self, topic: &Topic) -> bool {
        match topic {
            Topic::Queue(slug) => self.by_source.contains_key(&Source::queue(&**slug)),
            Topic::Need(need) => self.by_source.contains_key(&Source::Need(need.to_string())),
            Topic::Permit(slug) => self.all.iter().any(|handler| handler.takes(slug)),
            Topic::Run(_) | Topic::Stream(_) => false,
        }
    }

    pub(super) fn call(&mut self, work: ClaimedWork, signals: Signals) -> Result<Prepared, String> {
        let source = work.source();
        match self.by_source.get(&source) {
            Some(at) => self.all[*at].call(work, signals),
            None => Err(format!("this worker never asked for {source}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pgflow_machine::{RunId, TaskKey, TaskLease};

    use super::*;
    use crate::backend::ClaimedTask;

    #[derive(Debug)]
    struct Only(&'static str);

    impl Handler for Only {
        fn sources(&self) -> Vec<Source> {
            vec![Source::queue(self.0)]
        }

        fn wants(&mut self) -> Vec<Want> {
            self.sources().into_iter().map(Want::from).collect()
        }

        fn call(&mut self, _: ClaimedWork, _: Signals) -> Result<Prepared, String> {
            Err(self.0.to_owned())
        }
    }

    fn claimed(flow: &str) -> ClaimedWork {
        let task = TaskKey { run: RunId::new(), step: "a".into(), index: 0 };
        let (lease, input) = (TaskLease { task, attempt: 1 }, ().into());
        ClaimedWork::Task(ClaimedTask {
            lease,
            flow: flow.into(),
            input,
            timeout: Duration::from_secs(1),
        })
    }

    #[test]
    fn one_claim_is_for_all_and_each_gets_what_is_its_own() {
        let mut handlers = Handlers::new(vec![Box::new(Only("one")), Box::new(Only("two"))]);
        let wanted: Vec<_> = handlers.wants().into_iter().map(|want| want.source).collect();
        assert_eq!(wanted, handlers.sources());
        let mut told = |flow| handlers.call(claimed(flow), Signals::default()).err();
        assert_eq!(["one", "two"].map(&mut told), [Some("one".into()), Some("two".into())]);
        assert_eq!(told("three").as_deref(), Some("this worker never asked for queue `three`"));
        assert!(handlers.wait_for(&Topic::Queue("two".into())));
        assert!(!handlers.wait_for(&Topic::Queue("three".into())));
    }
}
