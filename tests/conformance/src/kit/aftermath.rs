//! What must hold after every check, whatever it did.

use std::collections::BTreeSet;
use std::sync::Arc;

use pgflow_machine::{Event, Happened, RunId, RunStatus};
use pgflow_runtime::backend::Parts;

use super::{Cx, Log, lines};

/// The backend's invariants, and the rules for the logs of all runs (R1, R2, R4, R5, C31).
pub(crate) async fn aftermath(cx: Arc<Cx>) {
    let violations = cx.violations().await;
    assert!(violations.is_empty(), "invariants are violated: {violations:#?}");
    let backend = cx.backend();
    for run in cx.runs() {
        let events = Log::read(&*backend, run).await.0;
        let record = backend.run(run, Parts::Run).await.expect("a run can be read");
        check_log(run, &events, record.map(|record| record.status));
    }
}

fn check_log(run: RunId, events: &[Event], status: Option<RunStatus>) {
    let log = || format!("run {run}: {:#?}", lines(events));
    let dense = events.iter().zip(1..).all(|(event, seq)| event.seq == seq);
    assert!(dense, "numbers have no gap: {:?}", events.iter().map(|e| e.seq).collect::<Vec<_>>());
    let back = events.windows(2).find(|pair| pair[0].at > pair[1].at);
    assert_eq!(back, None, "the database's clock goes on");
    assert!(ends_are_final(events), "nothing follows an end but what belongs to it: {}", log());
    assert!(steps_end_once(events), "a step starts once and ends once: {}", log());
    assert_eq!(last_status(events), status, "the log ends as the run is: {}", log());
}

/// A type violation is told as the end of the run, then of the step.
fn ends_are_final(events: &[Event]) -> bool {
    let mut ended = false;
    events.iter().all(|event| {
        let fine = match &event.what {
            Happened::RunRetried => ended,
            Happened::StepFailed { .. } => true,
            _ => !ended,
        };
        ended = (ended || event.what.ends_the_run()) && event.what != Happened::RunRetried;
        fine
    })
}

/// Between a start and the first retry, and from retry to retry.
fn steps_end_once(events: &[Event]) -> bool {
    events.split(|event| event.what == Happened::RunRetried).all(|part| {
        let mut seen = BTreeSet::new();
        let ends = part.iter().filter(|event| !is_of_a_wait(&event.what));
        ends.filter_map(|event| Some((event.what.step()?, &event.what))).all(|(step, what)| {
            let is_start = matches!(what, Happened::StepStarted { .. });
            seen.insert((step, is_start)) && !(is_start && seen.contains(&(step, false)))
        })
    })
}

/// A task may wait any number of times.
fn is_of_a_wait(what: &Happened) -> bool {
    matches!(
        what,
        Happened::StepWaiting { .. }
            | Happened::StepSignalled { .. }
            | Happened::StepSignalDropped { .. }
            | Happened::StepWoken { .. }
            | Happened::StepWaitTimedOut { .. }
    )
}

fn last_status(events: &[Event]) -> Option<RunStatus> {
    events.iter().rev().find_map(|event| match event.what {
        Happened::RunStarted { .. } | Happened::RunRetried => Some(RunStatus::Started),
        Happened::RunCompleted { .. } => Some(RunStatus::Completed),
        Happened::RunFailed { .. } => Some(RunStatus::Failed),
        Happened::RunCancelled { .. } => Some(RunStatus::Cancelled),
        _ => None,
    })
}
