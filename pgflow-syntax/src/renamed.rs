//! `was`: what a renamed step was called.

use std::collections::HashMap;

use syn::LitStr;

use crate::errors::Errors;
use crate::flow::Step;

/// A name that was given up can be taken over once, and by nobody who still has it.
pub(crate) fn check(steps: &[Step<'_>], errors: &mut Errors) {
    let mut taken: HashMap<String, &LitStr> = HashMap::new();
    for step in steps {
        let (Some(was), name) = (&step.was, step.name()) else { continue };
        let old = was.value();
        if let Some(other) = steps.iter().find(|other| other.slug == old) {
            let other = other.name();
            errors.at(
                was,
                format!("step `{name}` cannot have been `{old}`: step `{other}` is\nhelp: `was` names a step that is gone"),
            );
        } else if taken.insert(old.clone(), was).is_some() {
            errors.at(was, format!("two steps cannot both have been `{old}`"));
        }
    }
}
