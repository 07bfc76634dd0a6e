//! What the migrations make when they are applied one after the other.

use std::collections::BTreeMap;

use pgflow_model::{FlowShape, Lock, LockedVersion, Operation};

use crate::directory::{Directory, checksum};

/// A version as some files leave it.
pub(crate) struct Made {
    pub(crate) version: u32,
    /// The last file that touched it.
    pub(crate) file: String,
    pub(crate) shape: FlowShape,
}

/// Versions by slug.
pub(crate) type History = BTreeMap<String, Made>;

/// The versions that the files make, or what is wrong with them.
pub(crate) fn replay(directory: &Directory) -> Result<History, String> {
    let mut made = BTreeMap::new();
    for (name, text) in directory.ours() {
        let operations = Operation::of_sql(text).map_err(|why| {
            format!("migration `{name}` was changed by hand: {why}\nhelp: restore it from version control, and put your own statements into a file of your own")
        })?;
        for operation in operations {
            apply(operation, name, &mut made).map_err(|why| {
                format!("migration `{name}` {why}\nhelp: restore the migrations from version control; of two branches that changed one flow, only one can keep its migration")
            })?;
        }
    }
    Ok(made)
}

fn apply(operation: Operation, file: &str, made: &mut History) -> Result<(), String> {
    let unknown = |slug: &str| format!("changes `{slug}`, which no migration before it creates");
    let touch = |slug: &str, made: &mut History| match made.remove(slug) {
        Some(known) => Ok(Made { file: file.to_owned(), ..known }),
        None => Err(unknown(slug)),
    };
    match operation {
        Operation::CreateVersion { slug, shape, version } => {
            let text = format!("creates `{slug}`, which a migration before it creates too");
            let new = Made { version, file: file.to_owned(), shape };
            return made.insert(slug, new).map_or(Ok(()), |_| Err(text));
        }
        Operation::SetFlowOptions { slug, options } => {
            let mut known = touch(&slug, made)?;
            known.shape.options = options;
            made.insert(slug, known);
        }
        Operation::SetStepOptions { slug, step, options } => {
            let mut known = touch(&slug, made)?;
            let found = known.shape.steps.iter_mut().find(|known| known.slug == step);
            found.ok_or_else(|| unknown(&slug))?.options = options;
            made.insert(slug, known);
        }
        Operation::DeleteVersion { slug } => drop(touch(&slug, made)?),
    }
    Ok(())
}

/// The lock of these files, as far as a later one knows their versions, or a file that is gone dropped
/// them: others are another crate's. What only the source knows (types, former names) is taken from it.
pub(crate) fn lock(directory: &Directory, later: &Lock) -> Result<Lock, String> {
    let versions = replay(directory)?.into_values().map(|made| {
        let known = later.get(&made.shape.slug, made.version);
        let text = directory.get(&made.file).unwrap_or_default();
        LockedVersion {
            version: made.version,
            checksum: checksum(text),
            shape: known.map_or(made.shape.clone(), |known| tuned(&known.shape, &made.shape)),
            migration: made.file,
        }
    });
    let mut lock = Lock { versions: Vec::new(), dropped: directory.drops(), ..later.clone() };
    let is_dropped = |flow: &str| {
        let mut drops = later.dropped.iter().filter(|(dropped, _)| dropped == flow);
        drops.any(|(_, file)| directory.get(file).is_none())
    };
    let is_ours = |version: &LockedVersion| {
        let flow = &version.shape.slug;
        later.get(flow, version.version).is_some() || is_dropped(flow)
    };
    versions.filter(is_ours).for_each(|version| lock.set(version));
    Ok(lock)
}

/// A shape with the options that another one of the same steps has.
fn tuned(shape: &FlowShape, options: &FlowShape) -> FlowShape {
    let mut shape = FlowShape { options: options.options, ..shape.clone() };
    for step in &mut shape.steps {
        step.options = options.step(&step.slug).map(|step| step.options).unwrap_or_default();
    }
    shape
}
