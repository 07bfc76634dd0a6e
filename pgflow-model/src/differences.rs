//! Whether a database has the graph that a program means.

use crate::{Change, Edit, FlowShape, Part, changes};

/// How the graph in the database differs from the one that a program has under the same name: a sentence each, none
/// if they are the same. Options are not compared, because they are tuned in the database; nor are Rust types,
/// which it does not know, nor what steps were called in the version before.
///
/// ```
/// use pgflow_model::{FlowShape, StepShape, differences};
///
/// let mut stored = FlowShape::new("orders");
/// stored.steps = vec![StepShape::new("pay"), StepShape::new("ship")];
/// let mut wanted = stored.clone();
/// wanted.steps[1].depends_on.push("pay".into());
/// let found = differences(&stored, &wanted);
/// assert_eq!(found, ["step `ship` has another depends_on: nothing in the database, `pay` here"]);
/// ```
pub fn differences(stored: &FlowShape, wanted: &FlowShape) -> Vec<String> {
    let mut wanted = wanted.clone();
    wanted.steps.iter_mut().for_each(|step| step.was = None);
    changes(stored, &wanted).iter().filter_map(sentence).collect()
}

fn sentence(change: &Change) -> Option<String> {
    let step = change.step.as_deref().unwrap_or_default();
    let said = |value: &Option<String>| match value {
        Some(value) => format!("`{value}`"),
        None => "nothing".to_owned(),
    };
    Some(match &change.edit {
        Edit::Added => format!("step `{step}` is not in the database"),
        Edit::Removed => format!("step `{step}` is in the database only"),
        Edit::Changed { part: Part::Setting(_) | Part::Type, .. } => return None,
        Edit::Changed { part, before, now } => {
            let (name, before, now) = (part.name(), said(before), said(now));
            format!("step `{step}` has another {name}: {before} in the database, {now} here")
        }
        // Not without `was`.
        Edit::Renamed(was) => format!("step `{step}` is `{was}` in the database"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StepShape;

    fn flow(steps: &[StepShape]) -> FlowShape {
        FlowShape { steps: steps.to_vec(), ..FlowShape::new("orders") }
    }

    #[test]
    fn order_options_types_and_earlier_names_are_no_difference() {
        let (a, b) = (StepShape::new("a"), StepShape::new("b"));
        let stored = flow(&[b.clone(), a.clone()]);
        let mut wanted = flow(&[a, b]);
        wanted.options.timeout = Some(9);
        wanted.steps[0].options.max_attempts = Some(7);
        wanted.steps[0].output_type = Some("u8".into());
        wanted.steps[1].was = Some("c".into());
        assert_eq!(differences(&stored, &wanted), [""; 0]);
    }

    #[test]
    fn steps_that_only_one_has_are_named() {
        let stored = flow(&[StepShape::new("a")]);
        let wanted = flow(&[StepShape::new("b")]);
        let expected = ["step `b` is not in the database", "step `a` is in the database only"];
        assert_eq!(differences(&stored, &wanted), expected);
    }
}
