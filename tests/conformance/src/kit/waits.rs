//! What checks of waits are written with.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{Moment, NewJob};
use pgflow_machine::wait::{Awaited, HookToken, NewChild, NewWait, Signal, SignalTo, Signalled};
use pgflow_machine::{RunId, TaskKey, Timestamp, Until, Verdict};
use pgflow_runtime::backend::{
    Backend, ClaimedTask, WaitQuery, WaitRecord, WaitingFor, Waits, Woken,
};
use serde_json::Value;

use super::{Cx, Run};

/// An attempt that ends by waiting.
pub(crate) fn waits(wait: NewWait) -> Verdict {
    Verdict::Yielded { until: Until::Met(Box::new(wait)), reason: String::new() }
}

pub(crate) fn hook(token: &HookToken) -> NewWait {
    NewWait::on(Awaited::Hook(token.clone()))
}

pub(crate) fn sleep(time: Duration) -> NewWait {
    NewWait::on(Awaited::Sleep(Moment::In(time)))
}

pub(crate) fn sleep_until(moment: Timestamp) -> NewWait {
    NewWait::on(Awaited::Sleep(Moment::At(moment)))
}

pub(crate) fn child(flow: &str, input: impl Into<Value>) -> NewChild {
    NewChild { flow: flow.to_owned(), compiled_for: None, input: input.into() }
}

/// For one run.
pub(crate) fn run_of(flow: &str, input: impl Into<Value>) -> NewWait {
    NewWait::on(Awaited::Runs { children: vec![child(flow, input)], each: false })
}

/// For a run per input.
pub(crate) fn runs_of(flow: &str, inputs: impl IntoIterator<Item = i32>) -> NewWait {
    let children = inputs.into_iter().map(|input| child(flow, input)).collect();
    NewWait::on(Awaited::Runs { children, each: true })
}

pub(crate) fn jobs_of(jobs: impl IntoIterator<Item = NewJob>) -> NewWait {
    NewWait::on(Awaited::Jobs { jobs: jobs.into_iter().collect(), each: true })
}

pub(crate) fn timeout(seconds: u64, wait: NewWait) -> NewWait {
    NewWait { timeout: Some(Duration::from_secs(seconds)), ..wait }
}

pub(crate) fn to_token(token: &HookToken, payload: impl Into<Value>) -> Signal {
    Signal::new(SignalTo::Token(token.clone()), payload)
}

pub(crate) fn to_task(task: &TaskKey, payload: impl Into<Value>) -> Signal {
    Signal::new(SignalTo::Task(task.clone()), payload)
}

pub(crate) async fn signal(backend: &Arc<dyn Backend>, signal: &Signal) -> Signalled {
    let waits = backend.waits().expect("waits, or the check does not apply");
    waits.signal(signal).await.expect("a signal can be sent")
}

impl Cx {
    /// A token that only this check uses.
    pub(crate) fn token(&self) -> HookToken {
        HookToken::named(&self.name()).expect("a token")
    }

    pub(crate) async fn signal(&self, what: &Signal) -> Signalled {
        signal(&self.backend(), what).await
    }

    pub(crate) async fn announce(&self, task: &ClaimedTask) -> Option<HookToken> {
        let backend = self.backend();
        let leases = [task.lease.clone()];
        let tokens = of(&backend).announce(&leases).await.expect("hooks can be announced");
        assert_eq!(tokens.len(), 1, "there is one answer per lease");
        tokens.into_iter().next().flatten()
    }

    pub(crate) async fn wake(&self) -> Woken {
        of(&self.backend()).wake_waits(1000).await.expect("waits can be woken")
    }

    /// What a run waits for.
    pub(crate) async fn waits(&self, run: RunId) -> Vec<WaitRecord> {
        let query = WaitQuery { run: Some(run), max: 1000, ..WaitQuery::default() };
        of(&self.backend()).list_waits(&query).await.expect("waits can be listed")
    }
}

pub(crate) fn of(backend: &Arc<dyn Backend>) -> &dyn Waits {
    backend.waits().expect("waits, or the check does not apply")
}

impl Run {
    /// The children that its only wait waits for, which are runs of this flow.
    pub(crate) async fn children(&self, flow: &str) -> Vec<Self> {
        let waits = self.cx.waits(self.id).await;
        let [WaitRecord { on: WaitingFor::Runs(children), .. }] = &waits[..] else {
            panic!("it waits for runs, and not for {waits:?}")
        };
        let run = |id: &RunId| {
            self.cx.remember(*id);
            Self { cx: Arc::clone(&self.cx), flow: flow.to_owned(), id: *id }
        };
        children.iter().map(run).collect()
    }

    /// The child that this step waits for.
    pub(crate) async fn child_of(&self, step: &str, flow: &str) -> Self {
        let waits = self.cx.waits(self.id).await;
        let of_step = waits.iter().find(|wait| wait.task.step == step);
        match of_step.map(|wait| &wait.on) {
            Some(WaitingFor::Runs(children)) if children.len() == 1 => {
                self.cx.remember(children[0]);
                Self { cx: Arc::clone(&self.cx), flow: flow.to_owned(), id: children[0] }
            }
            other => panic!("{step} waits for a run, and not for {other:?}"),
        }
    }

    pub(crate) async fn child(&self, flow: &str) -> Self {
        let mut children = self.children(flow).await;
        assert_eq!(children.len(), 1, "it waits for one run");
        children.remove(0)
    }
}
