//! Whether the committed migrations are as they were written, and make what the lock says.

use pgflow_model::{FlowShape, Lock, LockedVersion, StepShape, changes, version_slug};

use crate::directory::{Directory, checksum};
use crate::history::{History, replay};

/// Puts the names that files have now into the lock: one may be renamed, as long as it says the
/// same. Returns what to say about each.
pub(crate) fn follow_renames(lock: &mut Lock, directory: &Directory) -> Vec<String> {
    let mut told = Vec::new();
    for locked in &mut lock.versions {
        if directory.get(&locked.migration).is_none()
            && let Some(name) = directory.find(&locked.checksum)
        {
            told.push(format!("migration `{}` is called `{name}` now", locked.migration));
            name.clone_into(&mut locked.migration);
        }
    }
    told
}

/// What is wrong with the files. `moved` is what to add if one is missing.
pub(crate) fn problems(lock: &Lock, directory: &Directory, moved: &str) -> Vec<String> {
    let mut problems = same_numbers(directory);
    problems.extend(lock.versions.iter().filter_map(|locked| damaged(locked, directory, moved)));
    if problems.is_empty() {
        match replay(directory) {
            Err(why) => problems.push(why),
            Ok(made) => {
                problems.extend(
                    lock.versions.iter().filter_map(|l| differs(l, lock, &made, directory)),
                );
            }
        }
    }
    problems
}

/// Tools refuse two files of one number, which two branches easily write.
fn same_numbers(directory: &Directory) -> Vec<String> {
    let said = |(one, other)| {
        format!(
            "migrations `{one}` and `{other}` have the same number\nhelp: give the one that no database has yet the next number: `pgflow.lock` follows when you build"
        )
    };
    directory.same_numbers().into_iter().map(said).collect()
}

fn damaged(locked: &LockedVersion, directory: &Directory, moved: &str) -> Option<String> {
    let (name, flow) = (&locked.migration, &locked.shape.slug);
    let help = "help: restore it from version control: a changed flow gets a migration of its own";
    match directory.get(name) {
        None => Some(format!("migration `{name}` of flow `{flow}` is missing{moved}\n{help}")),
        Some(text) if checksum(text) != locked.checksum => Some(format!(
            "migration `{name}` of flow `{flow}` has changed since it was written\n{help}"
        )),
        Some(_) => None,
    }
}

/// How what the files make differs from what the lock says. A file that the lock does not know yet
/// is none of its business.
fn differs(
    locked: &LockedVersion,
    lock: &Lock,
    made: &History,
    directory: &Directory,
) -> Option<String> {
    let flow = &locked.shape.slug;
    let (last, _) = directory.last_about(flow)?;
    if lock.versions_of(flow).all(|known| known.migration != last) {
        return None;
    }
    let made = made.get(&version_slug(flow, locked.version).ok()?);
    let changes = made.map(|made| changes(&made.shape, &bare(&locked.shape)));
    let said = match changes {
        None => "they do not create it".to_owned(),
        Some(changes) if changes.is_empty() => return None,
        Some(changes) => changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    Some(format!(
        "the migrations of version {} of flow `{flow}` do not make what `pgflow.lock` says: {said}\nhelp: restore both from version control",
        locked.version
    ))
}

/// The graph without what only the source knows.
fn bare(shape: &FlowShape) -> FlowShape {
    let bare = |step: &StepShape| StepShape { output_type: None, was: None, ..step.clone() };
    let steps = shape.steps.iter().map(bare).collect();
    FlowShape { input_type: None, format: 1, steps, ..shape.clone() }
}
