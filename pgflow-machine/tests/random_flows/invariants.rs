//! What must hold after every transition.

use pgflow_machine::{Change, Entry, RunState, RunStatus, SkipReason, StepState, StepStatus};

use crate::model::Model;

pub(crate) fn check(model: &Model) {
    let seed = model.seed;
    let has_ended =
        |step: &StepState| matches!(step.status, StepStatus::Completed | StepStatus::Skipped);
    let open = model.run.steps.iter().filter(|step| !has_ended(step)).count();
    assert_eq!(model.run.remaining_steps as usize, open, "seed {seed}: {:?}", model.run);
    assert_eq!(model.run.status == RunStatus::Completed, open == 0, "seed {seed}");
    for (at, step) in model.run.steps.iter().enumerate() {
        let deps = &model.plan.step(at).deps;
        let waits = deps.iter().filter(|dep| !has_ended(&model.run.steps[**dep])).count();
        let is_created = step.status == StepStatus::Created;
        assert!(!is_created || step.remaining_deps as usize == waits, "seed {seed}: step {at}");
        check_tasks(model, at, step);
        let is_ready = is_created && waits == 0;
        let lives = model.run.status == RunStatus::Started;
        assert!(!(lives && is_ready), "seed {seed}: step {at} was forgotten");
    }
    let can_go_on = model.run.steps.iter().any(|step| step.status == StepStatus::Started);
    assert!(model.run.status.has_ended() || can_go_on, "seed {seed}: the run hangs");
    check_log(model);
}

fn check_tasks(model: &Model, at: usize, step: &StepState) {
    let seed = model.seed;
    match step.status {
        StepStatus::Created | StepStatus::Skipped => assert_eq!(step.remaining_tasks, None),
        StepStatus::Completed => assert_eq!(step.remaining_tasks, Some(0)),
        // One that broke the run has given its last task's output.
        StepStatus::Failed => {}
        StepStatus::Started => {
            assert_eq!(step.remaining_tasks, Some(model.open[at]), "seed {seed}: step {at}");
        }
    }
    let reason = step.skip_reason.is_some();
    assert_eq!(reason, step.status == StepStatus::Skipped, "seed {seed}: step {at}");
}

/// Whatever changed is said to have.
pub(crate) fn check_change(seed: u64, before: &RunState, after: &RunState, change: &Change) {
    let is_same_run =
        before.status == after.status && before.remaining_steps == after.remaining_steps;
    assert!(change.run || is_same_run, "seed {seed}: the run's row changed in secret");
    for (at, (before, after)) in before.steps.iter().zip(&after.steps).enumerate() {
        assert!(
            change.steps.contains(&at) || before == after,
            "seed {seed}: step {at} changed in secret"
        );
    }
    let was_final = matches!(before.status, RunStatus::Completed | RunStatus::Cancelled);
    assert!(!was_final || before == after && change.log.is_empty(), "seed {seed}: an end is final");
}

fn check_log(model: &Model) {
    let seed = model.seed;
    let ends = |entry: &Entry| {
        matches!(entry, Entry::RunCompleted | Entry::RunFailed { .. } | Entry::RunCancelled { .. })
    };
    assert_eq!(model.log.first(), Some(&Entry::RunStarted), "seed {seed}");
    let since_retry = model.log.rsplit(|entry| *entry == Entry::RunRetried).next().unwrap_or(&[]);
    let run_ends = since_retry.iter().filter(|entry| ends(entry)).count();
    assert_eq!(run_ends, usize::from(model.run.status.has_ended()), "seed {seed}: {since_retry:?}");
    check_order(model);
}

/// A step's events come after the ends of all it depends on; skipped with one of those is the exception.
fn check_order(model: &Model) {
    let mut over = vec![0; model.run.steps.len()];
    for entry in &model.log {
        let (at, is_end) = match entry {
            Entry::StepStarted { step, .. } | Entry::StepFailed { step, .. } => (*step, false),
            Entry::StepCompleted { step } | Entry::StepSkipped { step, .. } => (*step, true),
            _ => continue,
        };
        let deps = &model.plan.step(at).deps;
        let is_over = |dep: &usize| over[*dep] > 0;
        let is_dragged =
            matches!(entry, Entry::StepSkipped { reason: SkipReason::DependencySkipped, .. });
        let follows = if is_dragged { deps.iter().any(is_over) } else { deps.iter().all(is_over) };
        assert!(follows, "seed {}: {entry:?} came too early: {:?}", model.seed, model.log);
        assert_eq!(over[at], 0, "seed {}: {entry:?} came after the end", model.seed);
        over[at] += usize::from(is_end);
    }
}
