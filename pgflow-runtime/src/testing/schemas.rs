//! Whether stored data stays readable, by the schemas that were committed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pgflow_model::{SchemaChange, schema_changes};
use serde_json::{Map, Value};

use crate::FlowDef;
use crate::schema::{input_schema, output_schema, read_back_schema};

/// Why committed schemas are not those of the code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The file could not be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not JSON.
    #[error("pgflow.schemas.json cannot be read")]
    Json(#[from] serde_json::Error),
    /// Schemas have changed.
    #[error("{}\nhelp: run `cargo pgflow schema --write` to accept this", listed(.0))]
    Changed(Vec<FlowSchemaChange>),
}

/// A change of the data of one place in a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSchemaChange {
    /// The flow.
    pub flow: String,
    /// The step whose output it is; none for the run's input.
    pub step: Option<String>,
    /// What changed; none if the flow or step is new.
    pub change: Option<SchemaChange>,
}

impl std::fmt::Display for FlowSchemaChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.step {
            Some(step) => write!(f, "pgflow.schemas.json: output of `{}/{step}`", self.flow)?,
            None => write!(f, "pgflow.schemas.json: input of `{}`", self.flow)?,
        }
        match &self.change {
            Some(change) => write!(f, ": {change}"),
            None => f.write_str(" is new or described differently (readable)"),
        }
    }
}

fn listed(changes: &[FlowSchemaChange]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Compares the schemas of flows with `pgflow.schemas.json` in `dir`, or writes that file if
/// `PGFLOW_SCHEMAS` is `write`. `pgflow::schema_test!` makes a test that calls it.
///
/// Flows with `schema = false` are left out.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// use pgflow::testing::compare_schemas;
///
/// let dir = std::env::temp_dir().join(format!("pgflow-schemas-{}", std::process::id()));
/// std::fs::create_dir_all(&dir)?;
/// assert!(compare_schemas(&dir, &[count::Flow::DEF]).is_err(), "nothing is committed yet");
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn compare_schemas(dir: impl AsRef<Path>, flows: &[&FlowDef]) -> Result<(), SchemaError> {
    let path = dir.as_ref().join("pgflow.schemas.json");
    let mut committed = read(&path)?;
    let mut changes = Vec::new();
    for flow in flows {
        let Some(now) = described(flow) else { continue };
        changes.extend(flow_changes(flow, committed.get(flow.slug)));
        committed.insert(flow.slug.to_owned(), now);
    }
    if changes.is_empty() {
        return Ok(());
    }
    if std::env::var_os("PGFLOW_SCHEMAS").is_none_or(|mode| mode != "write") {
        return Err(SchemaError::Changed(changes));
    }
    for change in &changes {
        println!("{change}");
    }
    let text = format!("{:#}\n", Value::Object(committed));
    fs::write(&path, text).map_err(|source| SchemaError::Io { path, source })
}

fn read(path: &Path) -> Result<Map<String, Value>, SchemaError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
        Err(source) => Err(SchemaError::Io { path: path.to_owned(), source }),
    }
}

/// What is committed of a flow: its input as it is read, and its outputs as they are written.
fn described(flow: &FlowDef) -> Option<Value> {
    let mut steps = Map::new();
    for step in flow.steps {
        steps.insert(step.slug.to_owned(), output_schema(step)?.to_value());
    }
    steps.sort_keys();
    Some(serde_json::json!({ "input": input_schema(flow)?.to_value(), "steps": steps }))
}

fn flow_changes(flow: &FlowDef, committed: Option<&Value>) -> Vec<FlowSchemaChange> {
    let before = |step: Option<&str>| match step {
        None => committed?.get("input"),
        Some(slug) => committed?.get("steps")?.get(slug),
    };
    let mut found = Vec::new();
    let input = input_schema(flow).map(|schema| {
        let read = schema.to_value();
        (None, read.clone(), read)
    });
    let steps = flow.steps.iter().filter_map(|step| {
        let (written, read) = (output_schema(step)?, read_back_schema(step)?);
        Some((Some(step.slug), written.to_value(), read.to_value()))
    });
    for (step, written, read) in input.into_iter().chain(steps) {
        let before = before(step);
        if before == Some(&written) {
            continue;
        }
        let mut changes: Vec<_> = before
            .map(|before| schema_changes(before, &read))
            .unwrap_or_default()
            .into_iter()
            .map(Some)
            .collect();
        if changes.is_empty() {
            changes.push(None);
        }
        let place = |change| FlowSchemaChange {
            flow: flow.slug.to_owned(),
            step: step.map(str::to_owned),
            change,
        };
        found.extend(changes.into_iter().map(place));
    }
    found
}
