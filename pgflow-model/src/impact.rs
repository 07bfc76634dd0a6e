//! What a change means for the runs that are in flight.

use std::fmt;

use crate::change::renames;
use crate::{Change, Edit, FlowShape, Part, StepKind, StepShape};

/// What a change means for the runs that are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Impact {
    /// The same graph.
    Nothing,
    /// Types are spelled differently. The database does not know them.
    Types,
    /// Options of the same version: runs in flight get them with their next attempt.
    Options,
    /// A new version, whose code can finish the runs of the old one too.
    Compatible,
    /// A new version; runs of the old one need a worker with the old code.
    Incompatible,
}

impl Impact {
    /// Of these changes, which lead from one shape to the other.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, Impact, StepShape, changes};
    ///
    /// let mut before = FlowShape::new("orders");
    /// before.steps.push(StepShape::new("fetch"));
    /// let mut now = before.clone();
    /// now.steps.push(StepShape::new("tell").after("fetch"));
    /// assert_eq!(Impact::of(&changes(&before, &now), &before, &now), Impact::Compatible);
    /// assert_eq!(Impact::of(&changes(&now, &before), &now, &before), Impact::Incompatible);
    /// ```
    pub fn of(changes: &[Change], before: &FlowShape, now: &FlowShape) -> Self {
        let new_version = || {
            let renamed = renames(before, now);
            if can_finish(now, before, &|slug| renamed.get(slug).copied().unwrap_or(slug)) {
                Self::Compatible
            } else {
                Self::Incompatible
            }
        };
        let each = |change: &Change| match &change.edit {
            Edit::Changed { part: Part::Type, .. } => Self::Types,
            Edit::Changed { part: Part::Setting(_), .. } => Self::Options,
            _ => new_version(),
        };
        changes.iter().map(each).max().unwrap_or(Self::Nothing)
    }

    /// Whether the flow gets a version of another number.
    ///
    /// ```
    /// assert!(pgflow_model::Impact::Compatible.is_new_version());
    /// ```
    pub fn is_new_version(self) -> bool {
        self >= Self::Compatible
    }
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing has changed",
            Self::Types => {
                "types only: the graph stays as it is; `cargo pgflow schema` says whether stored \
                 data can still be read"
            }
            Self::Options => {
                "compatible: options are changed in place, also for runs that are in flight"
            }
            Self::Compatible => {
                "compatible: a new version; runs in flight keep the old one, and this code can \
                 finish them"
            }
            Self::Incompatible => {
                "incompatible: a new version; runs in flight keep the old one, and need a worker \
                 with the old code until they end"
            }
        })
    }
}

/// Whether the code of `now` can run every step of `before`, whose slugs `renamed` translates.
///
/// It can if it reads what that stores, and each step is still there, of the same kind, takes no output that the old graph does
/// not give it, and copes with outputs that may be missing there. Conditions and policies are the
/// database's business.
pub(crate) fn can_finish<'a>(
    now: &FlowShape,
    before: &'a FlowShape,
    renamed: &dyn Fn(&'a str) -> &'a str,
) -> bool {
    let can_run = |old: &'a StepShape| {
        now.step(renamed(&old.slug)).is_some_and(|new| {
            let deps: Vec<_> = old.depends_on.iter().map(|dep| renamed(dep)).collect();
            let gets = |dep: &String| deps.contains(&dep.as_str());
            let same_source = new.kind == StepKind::Single || new.depends_on.len() == deps.len();
            let copes = old.depends_on.iter().all(|dep| {
                !may_be_missing(before.step(dep)) || may_be_missing(now.step(renamed(dep)))
            });
            old.kind == new.kind && same_source && new.depends_on.iter().all(gets) && copes
        })
    };
    now.format == before.format && before.steps.iter().all(can_run)
}

fn may_be_missing(step: Option<&StepShape>) -> bool {
    step.is_some_and(|step| step.presence().may_be_missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OnSkip, changes};

    fn flow(steps: Vec<StepShape>) -> FlowShape {
        FlowShape { steps, ..FlowShape::new("f") }
    }

    fn impact(before: Vec<StepShape>, now: Vec<StepShape>) -> Impact {
        let (before, now) = (flow(before), flow(now));
        Impact::of(&changes(&before, &now), &before, &now)
    }

    fn ab() -> Vec<StepShape> {
        vec![StepShape::new("a"), StepShape::new("b").after("a")]
    }

    #[test]
    fn an_edge_that_goes_can_be_finished_and_one_that_comes_cannot() {
        let loose = vec![StepShape::new("a"), StepShape::new("b")];
        assert_eq!(impact(ab(), loose.clone()), Impact::Compatible);
        assert_eq!(impact(loose, ab()), Impact::Incompatible);
    }

    #[test]
    fn code_that_wants_an_output_cannot_do_without() {
        let mut skips = ab();
        skips[0].when_exhausted = OnSkip::Skip;
        assert_eq!(impact(ab(), skips.clone()), Impact::Compatible);
        assert_eq!(impact(skips, ab()), Impact::Incompatible);
    }

    #[test]
    fn code_of_another_format_cannot_finish_what_is_in_flight() {
        let (before, now) = (flow(ab()), FlowShape { format: 2, ..flow(ab()) });
        assert_eq!(Impact::of(&changes(&before, &now), &before, &now), Impact::Incompatible);
    }

    #[test]
    fn a_renamed_step_is_the_same_step() {
        let mut named = vec![StepShape::new("z"), StepShape::new("b").after("z")];
        assert_eq!(impact(ab(), named.clone()), Impact::Incompatible);
        named[0].was = Some("a".to_owned());
        assert_eq!(impact(ab(), named), Impact::Compatible);
    }
}
