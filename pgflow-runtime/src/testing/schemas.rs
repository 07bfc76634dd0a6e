//! Whether stored data stays readable, by the schemas that were committed.

mod file;

use std::io;
use std::path::{Path, PathBuf};

use pgflow_model::{InvalidSchemas, Readable, StoredChange, StoredData, StoredForm};
use serde_json::json;

use crate::FlowDef;
use crate::schema::{input_schema, output_schema, read_back_schema, strip, written_input_schema};
use file::SchemaFile;

/// Says what to do with a changed form: `write` takes any over into the file, `check` never writes.
const MODE: &str = "PGFLOW_SCHEMAS";

/// A file that gets a line of JSON per flow, for `cargo pgflow schema`.
const REPORT: &str = "PGFLOW_SCHEMAS_REPORT";

/// Why committed schemas are not those of the code.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A file could not be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is damaged.
    #[error(transparent)]
    Invalid(#[from] InvalidSchemas),
    /// What is stored has changed.
    #[error(transparent)]
    Changed(#[from] ChangedData),
}

pgflow_model::debug_with_causes!(SchemaError);

/// What the runs of a flow store is not what `pgflow.schemas.json` says.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("what runs of flow `{flow}` store is not what pgflow.schemas.json says{}", self.told())]
pub struct ChangedData {
    /// The flow.
    pub flow: String,
    /// Where the form is another one, and who can read what; nothing if the flow or a step is new.
    pub changes: Vec<StoredChange>,
}

pgflow_model::debug_with_causes!(ChangedData);

impl ChangedData {
    /// Whether the code cannot read what earlier code has stored.
    pub fn is_breaking(&self) -> bool {
        self.changes.iter().any(|change| change.readable == Readable::Breaking)
    }

    fn told(&self) -> String {
        let mut lines: Vec<_> = self.changes.iter().map(ToString::to_string).collect();
        let help = if self.is_breaking() {
            "note: a worker that cannot read what a run has stored holds its step back\n\
             help: let the new type read the old form too, or give the flow another `format = …`: \
             that is a new version, and runs in flight keep the old one\n\
             help: `cargo pgflow schema --write` takes it over all the same"
        } else {
            "help: run `cargo pgflow schema --write`, and commit the file"
        };
        lines.push(help.to_owned());
        format!("\n{}", lines.join("\n"))
    }
}

/// What to do with a form that has changed.
///
/// ```
/// assert_ne!(pgflow::testing::SchemaMode::Check, pgflow::testing::SchemaMode::Accept);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaMode {
    /// Takes it over unless it breaks something: the default in a checkout.
    Follow,
    /// Takes it over.
    Accept,
    /// Writes nothing.
    Check,
}

impl SchemaMode {
    /// What `PGFLOW_SCHEMAS` asks for as `write` or `check`; otherwise nothing is written where `CI` is
    /// set.
    fn of_environment() -> Self {
        match std::env::var(MODE).as_deref() {
            Ok("write") => Self::Accept,
            Ok("check") => Self::Check,
            _ if std::env::var_os("CI").is_some() => Self::Check,
            _ => Self::Follow,
        }
    }
}

/// Compares what the runs of a flow store with `pgflow.schemas.json` in `dir`, and brings the file up
/// to date, unless something that is stored could not be read any more.
///
/// `#[flow]` makes a test that calls this for every flow that has migrations, and
/// `pgflow::schema_test!` one for flows that have none. Flows with `schema = false` are left out.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// use pgflow::testing::{SchemaMode, compare_schemas};
///
/// let dir = std::env::temp_dir().join(format!("pgflow-schemas-{}", std::process::id()));
/// std::fs::create_dir_all(&dir)?;
/// assert!(compare_schemas(&dir, count::Flow::DEF, SchemaMode::Check).is_err());
/// compare_schemas(&dir, count::Flow::DEF, SchemaMode::Follow).unwrap();
/// compare_schemas(&dir, count::Flow::DEF, SchemaMode::Check).unwrap();
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn compare_schemas(
    dir: impl AsRef<Path>,
    flow: &FlowDef,
    mode: SchemaMode,
) -> Result<(), SchemaError> {
    let Some(now) = described(flow) else { return Ok(()) };
    let mut file = SchemaFile::open(dir.as_ref(), mode != SchemaMode::Check)?;
    let slug = flow.version_slug;
    if file.schemas.versions.get(slug).is_some_and(|known| known.is_same(&now)) {
        return report(flow, "same", &[]);
    }
    let committed = file.committed();
    let before = committed.versions.get(slug);
    let changed = ChangedData {
        flow: flow.slug.to_owned(),
        changes: changes(flow, &now, |version| committed.versions.get(version)),
    };
    if !file.is_writable() || mode == SchemaMode::Follow && changed.is_breaking() {
        report(flow, "changed", &changed.changes)?;
        return Err(changed.into());
    }
    let is_left = |step: Option<&str>| {
        let mut here = changed.changes.iter().filter(|change| change.step.as_deref() == step);
        here.any(|change| change.readable == Readable::Breaking)
    };
    let now = match before {
        Some(before) => now.after(before, &is_left),
        None => now,
    };
    file.schemas.versions.insert(slug.to_owned(), now);
    file.write()?;
    report(flow, "written", &changed.changes)
}

/// What a generated test does.
#[doc(hidden)]
pub fn assert_readable(dir: &str, flow: &FlowDef) {
    if let Err(error) = compare_schemas(dir, flow, SchemaMode::of_environment()) {
        panic!("{error:?}");
    }
}

/// What the runs of a flow store; `None` if the flow said `schema = false`.
fn described(flow: &FlowDef) -> Option<StoredData> {
    let form = |written: schemars::Schema, read: schemars::Schema| {
        let [written, read] = [written, read].map(|schema| {
            let mut schema = schema.to_value();
            strip(&mut schema);
            schema
        });
        StoredForm { written, read, earlier: Vec::new() }
    };
    let steps = flow.steps.iter().map(|step| {
        Some((step.slug.to_owned(), form(output_schema(step)?, read_back_schema(step)?)))
    });
    Some(StoredData {
        input: form(written_input_schema(flow)?, input_schema(flow)?),
        steps: steps.collect::<Option<_>>()?,
    })
}

/// How this differs from what `before` knows of the same version, and of those whose runs the code
/// finishes too.
fn changes<'a>(
    flow: &FlowDef,
    now: &StoredData,
    before: impl Fn(&str) -> Option<&'a StoredData>,
) -> Vec<StoredChange> {
    let own = (flow.version_slug, &[][..]);
    let older = flow.finishes.iter().map(|older| (older.version_slug, older.renamed));
    let mut found: Vec<StoredChange> = Vec::new();
    for (version, renamed) in std::iter::once(own).chain(older) {
        let Some(before) = before(version) else { continue };
        for change in now.since(before, renamed) {
            if !found.contains(&change) {
                found.push(change);
            }
        }
    }
    found
}

/// Tells `cargo pgflow schema`, if that asks.
fn report(flow: &FlowDef, status: &str, changes: &[StoredChange]) -> Result<(), SchemaError> {
    let Some(path) = std::env::var_os(REPORT).map(PathBuf::from) else { return Ok(()) };
    let line = json!({
        "flow": flow.slug,
        "version": flow.version,
        "status": status,
        "stored": changes.iter().map(StoredChange::to_json).collect::<Vec<_>>(),
    });
    file::append(&path, &line.to_string()).map_err(|source| SchemaError::Io { path, source })
}
