//! Where a flow stands compared with `pgflow.lock`.

use pgflow_model::{Change, Impact, Lock, LockedVersion, changes, version_slug};

use crate::errors::Errors;
use crate::flow::Flow;

/// Where a flow stands compared with `pgflow.lock`.
#[derive(Debug)]
pub enum Standing<'a> {
    /// The file does not know it.
    New,
    /// The file knows this version, which differs from the code like this.
    Known {
        /// The version it was compared with.
        locked: &'a LockedVersion,
        /// The differences.
        changes: Vec<Change>,
        /// What they mean.
        impact: Impact,
    },
    /// It cannot be what it says; the errors tell why.
    Wrong,
}

/// Compares a flow with its newest version, or with the one that it says it is.
///
/// Reports what no migration could put right. Needs a flow without errors.
pub fn standing<'a>(flow: &Flow<'_>, lock: &'a Lock, errors: &mut Errors) -> Standing<'a> {
    let shape = flow.shape();
    let known = match flow.version() {
        Some(version) => match lock.get(&flow.slug, version) {
            None => return unknown_version(flow, version, errors),
            known => known,
        },
        None => lock.newest(&flow.slug),
    };
    let Some(locked) = known else { return Standing::New };
    let changes = changes(&locked.shape, &shape);
    let impact = Impact::of(&changes, &locked.shape, &shape);
    if impact.is_new_version() && !can_be_next(flow, locked, &changes, errors) {
        return Standing::Wrong;
    }
    Standing::Known { locked, changes, impact }
}

fn unknown_version<'a>(flow: &Flow<'_>, version: u32, errors: &mut Errors) -> Standing<'a> {
    errors.at(
        &flow.version,
        format!(
            "there is no version {version} of flow `{}` in `pgflow.lock`\n\
             help: leave `version` away: a new version gets its number by itself",
            flow.slug
        ),
    );
    Standing::Wrong
}

/// Whether the next version can have this shape and a name.
fn can_be_next(
    flow: &Flow<'_>,
    locked: &LockedVersion,
    changes: &[Change],
    errors: &mut Errors,
) -> bool {
    let (slug, version) = (&flow.slug, locked.version);
    if flow.version.is_some() {
        let differ: Vec<_> = changes.iter().map(ToString::to_string).collect();
        errors.at(
            &flow.version,
            format!(
                "version {version} of flow `{slug}` is kept for its runs in flight, so its shape stays as it was\n\
                 note: {}\n\
                 help: change the newest version instead, which has no `version = …`",
                differ.join("; ")
            ),
        );
        return false;
    }
    if let Err(why) = version_slug(slug, version + 1) {
        errors.at(
            &flow.item.ident,
            format!(
                "flow `{slug}` cannot have a version {}: its name would be `{slug}__v{0}`, and {why}\n\
                 help: give it a shorter `slug = \"…\"`: that makes a new flow, and `{slug}` stays for its runs",
                version + 1
            ),
        );
        return false;
    }
    was_there(flow, locked, errors)
}

/// Whether every `was` names a step that there was.
fn was_there(flow: &Flow<'_>, locked: &LockedVersion, errors: &mut Errors) -> bool {
    let before = &locked.shape;
    let is_new = |slug: &str| before.step(slug).is_none();
    let mut all = true;
    for step in flow.steps.iter().filter(|step| is_new(&step.slug)) {
        let Some(was) = step.was.as_ref().filter(|was| is_new(&was.value())) else { continue };
        let name = was.value();
        let slugs = before.steps.iter().map(|step| step.slug.as_str());
        let help = crate::suggest::closest(&name, slugs)
            .map_or(String::new(), |near| format!("\nhelp: did you mean `{near:?}`?"));
        errors.at(
            was,
            format!("there was no step `{name}` in version {} of this flow{help}", locked.version),
        );
        all = false;
    }
    all
}
