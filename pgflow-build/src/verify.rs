//! Whether the committed migrations are as they were written, and make what the lock says.

use std::collections::BTreeMap;

use pgflow_model::{FlowShape, Lock, LockedVersion, Operation, StepShape, changes, version_slug};

use crate::directory::{Directory, checksum};

/// Puts the names that files have now into the lock: one may be renamed, as long as it says the
/// same.
pub(crate) fn follow_renames(lock: &mut Lock, directory: &Directory) {
    for locked in &mut lock.versions {
        if directory.get(&locked.migration).is_none()
            && let Some(name) = directory.find(&locked.checksum)
        {
            name.clone_into(&mut locked.migration);
        }
    }
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

/// The versions that the files make when they are applied one after the other, by slug.
fn replay(directory: &Directory) -> Result<BTreeMap<String, FlowShape>, String> {
    let mut made = BTreeMap::new();
    for (name, text) in directory.ours() {
        let operations = Operation::of_sql(text).map_err(|why| {
            format!("migration `{name}` was changed by hand: {why}\nhelp: restore it from version control, and put your own statements into a file of your own")
        })?;
        for operation in operations {
            apply(operation, &mut made).map_err(|why| {
                format!("migration `{name}` {why}\nhelp: restore the migrations from version control; of two branches that changed one flow, only one can keep its migration")
            })?;
        }
    }
    Ok(made)
}

fn apply(operation: Operation, made: &mut BTreeMap<String, FlowShape>) -> Result<(), String> {
    let unknown = |slug: &str| format!("changes `{slug}`, which no migration before it creates");
    match operation {
        Operation::CreateVersion { slug, shape, .. } => {
            let text = format!("creates `{slug}`, which a migration before it creates too");
            made.insert(slug, shape).map_or(Ok(()), |_| Err(text))
        }
        Operation::SetFlowOptions { slug, options } => {
            made.get_mut(&slug).ok_or_else(|| unknown(&slug))?.options = options;
            Ok(())
        }
        Operation::SetStepOptions { slug, step, options } => {
            let steps = made.get_mut(&slug).map(|shape| shape.steps.iter_mut());
            let step = steps.into_iter().flatten().find(|known| known.slug == step);
            step.ok_or_else(|| unknown(&slug))?.options = options;
            Ok(())
        }
        Operation::DeleteVersion { slug } => {
            made.remove(&slug).map(drop).ok_or_else(|| unknown(&slug))
        }
    }
}

/// How what the files make differs from what the lock says. A file that the lock does not know yet
/// is none of its business.
fn differs(
    locked: &LockedVersion,
    lock: &Lock,
    made: &BTreeMap<String, FlowShape>,
    directory: &Directory,
) -> Option<String> {
    let flow = &locked.shape.slug;
    let (last, _) = directory.last_about(flow)?;
    if lock.versions_of(flow).all(|known| known.migration != last) {
        return None;
    }
    let made = made.get(&version_slug(flow, locked.version).ok()?);
    let changes = made.map(|made| changes(made, &bare(&locked.shape)));
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
    FlowShape { input_type: None, steps: shape.steps.iter().map(bare).collect(), ..shape.clone() }
}
