//! How much steps may put out together.
//!
//! What the tasks of a map put out becomes one value, and so does what the leaves of a run do. Postgres keeps
//! 256 MB in one and SQLite a gigabyte, so that there is one limit for all. A step that passes it ends like one out
//! of attempts; its tasks stay completed.

use crate::{Plan, RunState, StepStatus};

/// Bytes that the outputs of a map may have together, and those of a run's leaves.
pub const OUTPUT_BYTES: usize = 256_000_000;

/// A step that puts out too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Number of the step.
    pub step: usize,
    /// What its error says.
    pub error: String,
}

/// Of steps whose tasks are all completed, given with the bytes of their outputs, those that put out too much:
/// a map by itself, or a leaf with those before it. `leaves` are the bytes of [`completed_leaves`].
///
/// They are to be ended with [`Turn::exhaust`](crate::Turn::exhaust) after the others are finished.
///
/// ```
/// use pgflow_machine::{Plan, excess};
/// # use pgflow_model::{FlowShape, StepShape};
/// # let mut flow = FlowShape::new("report");
/// # flow.steps = vec![StepShape::new("pages").map(), StepShape::new("title")];
/// # let plan = Plan::new(&flow)?;
/// // `pages` has put out 70 bytes and `title` 40; a run may put out 100.
/// let excess = excess(&plan, &[(0, 70), (1, 40)], &[], 100);
/// assert_eq!(excess[0].step, 1);
/// assert_eq!(excess[0].error, "Output too large: with that of step title the run puts out more than 100 bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn excess(
    plan: &Plan,
    ended: &[(usize, usize)],
    leaves: &[usize],
    limit: usize,
) -> Vec<Excess> {
    let mut ended = ended.to_vec();
    ended.sort_unstable();
    let mut together: usize = leaves.iter().sum();
    let mut excess = Vec::new();
    for (step, bytes) in ended {
        let is_leaf = plan.step(step).dependents.is_empty();
        if plan.step(step).is_map && bytes > limit {
            excess.push(Excess { step, error: too_large(plan, step, limit) });
        } else if is_leaf && together + bytes > limit {
            let slug = &plan.step(step).slug;
            let error = format!(
                "Output too large: with that of step {slug} the run puts out more than {limit} bytes"
            );
            excess.push(Excess { step, error });
        } else if is_leaf {
            together += bytes;
        }
    }
    excess
}

/// What a map says whose outputs are too large together.
pub(crate) fn too_large(plan: &Plan, step: usize, limit: usize) -> String {
    let slug = &plan.step(step).slug;
    format!("Output too large: the outputs of step {slug} together have more than {limit} bytes")
}

/// Steps that are completed and that no other takes anything from: what they put out is the run's output.
pub fn completed_leaves<'a>(
    plan: &'a Plan,
    run: &'a RunState,
) -> impl Iterator<Item = usize> + use<'a> {
    let is_one = |step: &usize| {
        run.steps[*step].status == StepStatus::Completed && plan.step(*step).dependents.is_empty()
    };
    (0..run.steps.len()).filter(is_one)
}

/// Whether what this step puts out has to be measured when it ends.
pub fn is_measured(plan: &Plan, step: usize) -> bool {
    let leaves = plan.steps().iter().filter(|step| step.dependents.is_empty()).count();
    plan.step(step).is_map || (plan.step(step).dependents.is_empty() && leaves > 1)
}
