//! Reports a flow whose shape is not the one its migrations create.

use std::collections::BTreeMap;

use pgflow_model::{Change, Edit, Impact, LockedVersion, Part, step_line};
use pgflow_syntax::{Errors, Flow};
use quote::ToTokens;

use crate::editor::is_editor;

/// Whether drift is an error here.
///
/// Not when `PGFLOW_MIGRATIONS=off` asks for silence, and not in an editor: it would go on showing
/// what the next build puts right.
pub(crate) fn is_wanted() -> bool {
    let is_off = std::env::var_os("PGFLOW_MIGRATIONS").is_some_and(|value| value == "off");
    !is_off && !is_editor()
}

/// One error per step that the migrations do not have like this.
pub(crate) fn report(
    flow: &Flow<'_>,
    locked: &LockedVersion,
    changes: &[Change],
    impact: Impact,
    errors: &mut Errors,
) {
    if impact <= Impact::Types {
        return;
    }
    let mut by_step: BTreeMap<Option<&str>, Vec<&Change>> = BTreeMap::new();
    for change in changes.iter().filter(|change| is_stored(change)) {
        by_step.entry(change.step.as_deref()).or_default().push(change);
    }
    let end =
        format!("note: {impact}\nhelp: run `cargo pgflow migrate` to write a migration for it");
    for (step, changes) in by_step {
        let what = describe(flow, locked, step, &changes);
        errors.at(place(flow, step, &changes), format!("{what}\n{end}"));
    }
}

fn is_stored(change: &Change) -> bool {
    !matches!(change.edit, Edit::Changed { part: Part::Type, .. })
}

fn describe(
    flow: &Flow<'_>,
    locked: &LockedVersion,
    step: Option<&str>,
    changes: &[&Change],
) -> String {
    let since = format!("since migration `{}`", locked.migration);
    let Some(slug) = step else {
        let all: Vec<_> = changes.iter().map(ToString::to_string).collect();
        return format!("flow `{}` has changed {since}\nnote: {}", flow.slug, all.join("; "));
    };
    let (before, now) = (&locked.shape, flow.shape().normalized());
    match &changes[0].edit {
        Edit::Added => format!("step `{slug}` is new {since}"),
        Edit::Removed => format!("step `{slug}` is gone {since}"),
        edit => {
            let was = if let Edit::Renamed(was) = edit { was } else { slug };
            let line = |step: Option<_>| step.map(step_line).unwrap_or_default();
            let (before, now) = (line(before.step(was)), line(now.step(slug)));
            format!("step `{slug}` has changed {since}\nbefore: {before}\n   now: {now}")
        }
    }
}

/// What to underline: a new step's name, a changed one's attribute, or the flow's name.
fn place(flow: &Flow<'_>, step: Option<&str>, changes: &[&Change]) -> proc_macro2::TokenStream {
    let found = flow.steps.iter().find(|known| Some(&*known.slug) == step);
    match (found, &changes[0].edit) {
        (None, _) => flow.item.ident.to_token_stream(),
        (Some(step), Edit::Added) => step.name().to_token_stream(),
        (Some(step), _) => step.item.marker.to_token_stream(),
    }
}
