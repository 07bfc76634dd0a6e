//! A backend that does almost what another one does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pgflow_machine::{Retry, TaskKey, TaskLease, Verdict};
use pgflow_model::{FlowShape, OnSkip, StepOptions};
use pgflow_test_support::contract_prelude::*;
use pgflow_test_support::forward;

use crate::fault::Fault;

#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn Backend>,
    pub(crate) fault: Fault,
    newest: Mutex<HashMap<TaskKey, u32>>,
    last_claim: Mutex<Vec<ClaimedTask>>,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Backend>, fault: Fault) -> Self {
        Self { inner, fault, newest: Mutex::default(), last_claim: Mutex::default() }
    }

    #[expect(clippy::unused_self, reason = "`forward!` calls a method")]
    fn untouched<'a, T: 'a>(
        &'a self,
        _method: &'static str,
        call: impl FnOnce() -> Reply<'a, T> + Send + 'a,
    ) -> Reply<'a, T> {
        call()
    }

    pub(crate) fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn shape(&self, shape: &FlowShape) -> FlowShape {
        let mut shape = shape.clone();
        self.options(&mut shape.options, true);
        for step in &mut shape.steps {
            self.options(&mut step.options, false);
            if self.is(Fault::NoCascade) {
                for mode in [&mut step.when_unmet, &mut step.when_exhausted] {
                    *mode = if *mode == OnSkip::SkipCascade { OnSkip::Skip } else { *mode };
                }
            }
            if self.is(Fault::NoConditions) {
                (step.only_if, step.unless) = (None, None);
            }
        }
        shape
    }

    fn options(&self, options: &mut StepOptions, of_flow: bool) {
        match self.fault {
            Fault::OneMoreAttempt => {
                let more = options.max_attempts.or(of_flow.then_some(3)).map(|max| max + 1);
                options.max_attempts = more;
            }
            Fault::NoStartDelay => options.start_delay = None,
            Fault::FlowTimeoutOnly if !of_flow => options.timeout = None,
            _ => {}
        }
    }

    fn settle_with_fault(&self, settle: &Settle) -> Settle {
        let Settle { mut lease, verdict } = settle.clone();
        if self.is(Fault::NoFence) {
            let Lease::Task(lease) = &mut lease else { unreachable!("no jobs here") };
            let newest = self.newest.lock().expect("no panic").get(&lease.task).copied();
            lease.attempt = newest.unwrap_or(lease.attempt);
        }
        let verdict = match (self.fault, verdict) {
            (Fault::ReleaseBurnsAnAttempt, Verdict::Released) => {
                Verdict::Failed { error: "released".into(), retry: Retry::ByPolicy }
            }
            (fault, Verdict::Failed { error, retry }) => {
                Verdict::Failed { error, retry: wrong_retry(fault, retry) }
            }
            (_, verdict) => verdict,
        };
        Settle { lease, verdict }
    }

    fn claim_with_fault(&self, claim: &Claim) -> Claim {
        let mut claim = claim.clone();
        match self.fault {
            Fault::MoreThanAsked => claim.max += 1,
            Fault::NoQuotas => claim.wants.iter_mut().for_each(|want| want.quotas.clear()),
            _ => {}
        }
        claim
    }

    fn claimed(&self, mut claimed: Claimed) -> Claimed {
        let mut newest = self.newest.lock().expect("no panic");
        newest.extend(claimed.tasks.iter().map(|t| (t.lease.task.clone(), t.lease.attempt)));
        if self.is(Fault::TwoGetOneTask) {
            let mut last = self.last_claim.lock().expect("no panic");
            let again = std::mem::replace(&mut *last, claimed.tasks.clone());
            claimed.tasks.extend(again);
        }
        claimed
    }

    fn outcomes(&self, mut settled: Vec<Settled>) -> Vec<Settled> {
        match self.fault {
            Fault::OutcomesInAnyOrder => settled.reverse(),
            Fault::SettlesTwice => settled.iter_mut().for_each(|outcome| {
                let again = *outcome == Settled::AlreadySettled;
                *outcome = if again { Settled::Applied } else { *outcome };
            }),
            _ => {}
        }
        settled
    }
}

impl Faulty {
    /// Fails what was claimed and is not known, instead of giving it back.
    async fn fail_unknown(&self, known: &[Lease]) -> Result<u64, BackendError> {
        let newest = self.newest.lock().expect("no panic").clone();
        let leases =
            newest.into_iter().map(|(task, attempt)| Lease::from(TaskLease { task, attempt }));
        let unknown = leases.filter(|lease| !known.contains(lease));
        let verdict = Verdict::Failed { error: "lost".into(), retry: Retry::After(Duration::ZERO) };
        let settle = |lease| Settle { lease, verdict: verdict.clone() };
        let work = self.inner.settle(&unknown.map(settle).collect::<Vec<_>>(), None).await?;
        Ok(work.settled.iter().filter(|settled| **settled == Settled::Applied).count() as u64)
    }
}

fn wrong_retry(fault: Fault, retry: Retry) -> Retry {
    match (fault, retry) {
        (Fault::NoBackoff, Retry::ByPolicy) => Retry::After(Duration::ZERO),
        (Fault::IgnoresRetryAfter, Retry::After(_)) | (Fault::FatalIsRetried, Retry::Never) => {
            Retry::ByPolicy
        }
        _ => retry,
    }
}

/// As a driver with one kind of number does.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(elements) => elements.into_iter().map(rounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(k, v)| (k, rounded(v))).collect(),
        other => other,
    }
}

fn reversed(output: &mut Option<Value>) {
    if let Some(Value::Array(elements)) = output {
        elements.reverse();
    }
}

impl Backend for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn waits(&self) -> Result<&dyn Waits, BackendError> {
        Ok(self)
    }

    fn streams(&self) -> Result<&dyn Streams, BackendError> {
        Ok(self)
    }

    fn schedules(&self) -> Result<&dyn Schedules, BackendError> {
        Ok(self)
    }

    fn wakes(&self) -> Wakes {
        self.inner.wakes()
    }

    forward!(self.inner.untouched: limits migrate close);
}

impl Definitions for Faulty {
    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured> {
        Box::pin(async move {
            let version = FlowVersion { shape: self.shape(&version.shape), ..version.clone() };
            match self.inner.ensure_flow(&version).await? {
                Ensured::Conflict(_) if self.is(Fault::NoConflicts) => Ok(Ensured::Same),
                ensured => Ok(ensured),
            }
        })
    }

    forward!(self.inner.untouched: apply versions set_interface);
}

impl Upkeep for Faulty {
    forward!(self.inner.untouched: upkeep);
}

impl Runs for Faulty {
    fn start(&self, mut run: NewRun) -> Reply<'_, Started> {
        if self.is(Fault::RoundsNumbers) {
            run.input = rounded(run.input);
        }
        Box::pin(async move {
            match self.inner.start(run).await {
                Ok(Started::Existing) if self.is(Fault::EveryStartIsNew) => Ok(Started::Created),
                Err(BackendError::UnknownFlow { .. }) if self.is(Fault::UnknownFlowIsFine) => {
                    Ok(Started::Created)
                }
                other => other,
            }
        })
    }

    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled> {
        if self.is(Fault::CancelsNothing) {
            return Box::pin(async { Ok(Cancelled::Cancelled) });
        }
        self.inner.cancel(run, reason)
    }

    fn retry(&self, run: RunId) -> Reply<'_, Retried> {
        if self.is(Fault::RetriesNothing) {
            return Box::pin(async { Ok(Retried::Retried) });
        }
        self.inner.retry(run)
    }

    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>> {
        Box::pin(async move {
            let mut record = self.inner.run(run, parts).await?;
            if self.is(Fault::OutputsInAnyOrder) {
                for step in record.iter_mut().flat_map(|record| &mut record.steps) {
                    reversed(&mut step.output);
                }
            }
            Ok(record)
        })
    }

    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>> {
        Box::pin(async move {
            let mut query = query.clone();
            query.after = query.after.filter(|_| !self.is(Fault::OnePageForAll));
            self.inner.list(&query).await
        })
    }

    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>> {
        let after = if self.is(Fault::NoCursor) { 0 } else { after };
        Box::pin(async move {
            let mut events = self.inner.events(run, after, max).await?;
            match self.fault {
                Fault::EventGap => events.retain(|event| event.seq != 2),
                Fault::EventsOutOfOrder if events.len() > 1 => {
                    let (last, before) = (events.len() - 1, events.len() - 2);
                    events.swap(last, before);
                }
                _ => {}
            }
            Ok(events)
        })
    }

    forward!(self.inner.untouched: prune);
}

impl Work for Faulty {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        Box::pin(async move {
            let claim = self.claim_with_fault(claim);
            Ok(self.claimed(self.inner.claim(&claim).await?))
        })
    }

    fn settle<'a>(
        &'a self,
        settles: &'a [Settle],
        next: Option<&'a Claim>,
    ) -> Reply<'a, Settlement> {
        Box::pin(async move {
            if self.is(Fault::LosesSettles) {
                let settled = vec![Settled::Applied; settles.len()];
                return Ok(Settlement { settled, ..Settlement::default() });
            }
            let settles: Vec<_> = settles.iter().map(|s| self.settle_with_fault(s)).collect();
            let next = next.filter(|_| !self.is(Fault::ForgetsToClaim));
            let next = next.map(|claim| self.claim_with_fault(claim));
            let work = self.inner.settle(&settles, next.as_ref()).await?;
            Ok(Settlement {
                settled: self.outcomes(work.settled),
                claimed: self.claimed(work.claimed),
            })
        })
    }

    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>> {
        if self.is(Fault::BeatsAlwaysExtend) {
            return Box::pin(async { Ok(vec![Beat::Extended; leases.len()]) });
        }
        self.inner.heartbeat(leases)
    }

    fn sweep(&self) -> Reply<'_, Swept> {
        if self.is(Fault::NeverSweeps) {
            return Box::pin(async { Ok(Swept::default()) });
        }
        self.inner.sweep()
    }

    fn sweep_and_claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, (Swept, Claimed)> {
        Box::pin(async move {
            if self.is(Fault::ClaimsBeforeItSweeps) {
                let claimed = self.claim(claim).await?;
                return Ok((self.sweep().await?, claimed));
            }
            let swept = self.sweep().await?;
            Ok((swept, self.claim(claim).await?))
        })
    }

    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        sources: &'a [Source],
        known: &'a [Lease],
    ) -> Reply<'a, u64> {
        match self.fault {
            Fault::KeepsUnknown => Box::pin(async { Ok(0) }),
            Fault::ReleasesKnown => self.inner.release_unknown(worker, sources, &[]),
            Fault::UnknownBurnsAnAttempt => Box::pin(self.fail_unknown(known)),
            _ => self.inner.release_unknown(worker, sources, known),
        }
    }

    forward!(self.inner.untouched: begin commit);
}
