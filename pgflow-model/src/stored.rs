//! `pgflow.schemas.json`: what the runs of each version of a flow store, as JSON Schemas.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::{SchemaChange, schema_changes};

/// The form of one stored value.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredForm {
    /// What is written.
    pub written: Value,
    /// What can be read, which may be more: fields with a default.
    pub read: Value,
    /// What earlier code of the same version wrote, which runs in flight may still have.
    pub earlier: Vec<Value>,
}

/// What the runs of a version store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredData {
    /// The run's input.
    pub input: StoredForm,
    /// Outputs of steps, by slug.
    pub steps: BTreeMap<String, StoredForm>,
}

/// What `pgflow.schemas.json` says: versions of flows by their name in the database.
///
/// ```
/// use pgflow_model::StoredSchemas;
///
/// let text = r#"{ "order": { "input": { "written": true }, "steps": {} } }"#;
/// let schemas: StoredSchemas = text.parse()?;
/// assert!(schemas.versions["order"].steps.is_empty());
/// # Ok::<(), pgflow_model::InvalidSchemas>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredSchemas {
    /// Versions by their name in the database, such as `order` and `order__v2`.
    pub versions: BTreeMap<String, StoredData>,
}

/// A `pgflow.schemas.json` that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchemas(String);

impl fmt::Display for InvalidSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pgflow.schemas.json cannot be read: {}\n\
             help: restore it from version control, or delete it: `cargo pgflow schema --write` \
             makes it anew",
            self.0
        )
    }
}

impl std::error::Error for InvalidSchemas {}

/// Who can read what the other has stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readable {
    /// New code reads what old code has stored, and old code what new code stores.
    Both,
    /// New code reads what old code has stored, but not the other way round.
    NewOnly,
    /// New code cannot read what old code has stored.
    Breaking,
}

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Both => "readable",
            Self::NewOnly => "readable by new code only",
            Self::Breaking => "breaking",
        })
    }
}

/// How the form of one stored value has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChange {
    /// The step whose output it is; none for the run's input.
    pub step: Option<String>,
    /// Who can read what now.
    pub readable: Readable,
    /// The differences, with their places in the value.
    pub changes: Vec<SchemaChange>,
}

impl fmt::Display for StoredChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step {
            Some(step) => write!(f, "output of step `{step}`: {}", self.readable)?,
            None => write!(f, "input of the run: {}", self.readable)?,
        }
        self.changes.iter().try_for_each(|change| write!(f, "\n  {}: {}", change.path, change.what))
    }
}

impl StoredChange {
    /// The same for programs.
    ///
    /// ```
    /// use pgflow_model::{Readable, StoredChange};
    ///
    /// let change = StoredChange { step: None, readable: Readable::Breaking, changes: Vec::new() };
    /// assert_eq!(change.to_json()["readable"], "breaking");
    /// ```
    pub fn to_json(&self) -> Value {
        let changes = self.changes.iter().map(|change| {
            let SchemaChange { path, what, is_readable } = change;
            serde_json::json!({ "path": path, "what": what, "isReadable": is_readable })
        });
        serde_json::json!({
            "step": self.step,
            "readable": self.readable.to_string(),
            "changes": changes.collect::<Vec<_>>(),
        })
    }
}

impl StoredForm {
    /// Whether the same is written and read, whatever was written earlier.
    pub fn is_same(&self, other: &Self) -> bool {
        self.written == other.written && self.read == other.read
    }

    /// How this differs from what earlier code did at the same place.
    ///
    /// ```
    /// use pgflow_model::{Readable, StoredForm};
    /// use serde_json::json;
    ///
    /// let form = |kind| StoredForm {
    ///     written: json!({ "type": kind }),
    ///     read: json!({ "type": kind }),
    ///     earlier: Vec::new(),
    /// };
    /// let change = form("number").since(&form("integer"), Some("price")).unwrap();
    /// assert_eq!(change.readable, Readable::NewOnly);
    /// assert_eq!(
    ///     change.to_string(),
    ///     "output of step `price`: readable by new code only\n  $: type was integer, now number"
    /// );
    /// ```
    pub fn since(&self, before: &Self, step: Option<&str>) -> Option<StoredChange> {
        let mut changes: Vec<SchemaChange> = Vec::new();
        for written in before.earlier.iter().chain([&before.written]) {
            for change in schema_changes(written, &self.read) {
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        let backwards = schema_changes(&self.written, &before.read);
        let mut unread = backwards.into_iter().filter(|change| !change.is_readable).peekable();
        let readable = if changes.iter().any(|change| !change.is_readable) {
            Readable::Breaking
        } else if unread.peek().is_some() {
            Readable::NewOnly
        } else {
            Readable::Both
        };
        if changes.is_empty() {
            changes.extend(unread.map(|change| SchemaChange {
                what: format!("for old code, {}", change.what),
                ..change
            }));
        }
        (!changes.is_empty()).then(|| StoredChange {
            step: step.map(str::to_owned),
            readable,
            changes,
        })
    }
}

impl StoredData {
    /// Whether the same is written and read at every place.
    pub fn is_same(&self, other: &Self) -> bool {
        let (steps, others) = (&self.steps, &other.steps);
        let is_same = |(a, b): ((&String, &StoredForm), (&String, &StoredForm))| {
            a.0 == b.0 && a.1.is_same(b.1)
        };
        self.input.is_same(&other.input)
            && steps.len() == others.len()
            && steps.iter().zip(others).all(is_same)
    }

    /// How this differs from what earlier code stored, as [`StoredForm::since`] says it. `renamed` are slugs that steps had then, and
    /// those they have now. A step that one of both does not have is none of its business.
    pub fn since<S: AsRef<str>>(&self, before: &Self, renamed: &[(S, S)]) -> Vec<StoredChange> {
        let steps = before.steps.iter().filter_map(|(slug, before)| {
            let new = renamed.iter().find(|(old, _)| old.as_ref() == slug);
            let now = new.map_or(&**slug, |(_, new)| new.as_ref());
            self.steps.get(now)?.since(before, Some(now))
        });
        self.input.since(&before.input, None).into_iter().chain(steps).collect()
    }

    /// The same, as the successor of what earlier code of this version stored: runs in flight may have
    /// that still. Where `is_left` says so, what was stored before is left behind.
    #[must_use]
    pub fn after(mut self, before: &Self, is_left: &dyn Fn(Option<&str>) -> bool) -> Self {
        let follow = |now: &mut StoredForm, before: &StoredForm| {
            now.earlier.clone_from(&before.earlier);
            if before.written != now.written && !now.earlier.contains(&before.written) {
                now.earlier.push(before.written.clone());
            }
        };
        if !is_left(None) {
            follow(&mut self.input, &before.input);
        }
        for (slug, now) in self.steps.iter_mut().filter(|(slug, _)| !is_left(Some(slug))) {
            if let Some(before) = before.steps.get(slug) {
                follow(now, before);
            }
        }
        self
    }
}

impl StoredSchemas {
    /// Forgets all versions of a flow, which was deleted.
    pub fn forget(&mut self, flow: &str) {
        self.versions.retain(|slug, _| {
            let is_version = crate::is_version_slug(slug)
                && slug.rsplit_once("__v").is_some_and(|(name, _)| name == flow);
            slug != flow && !is_version
        });
    }
}

impl FromStr for StoredSchemas {
    type Err = InvalidSchemas;

    fn from_str(text: &str) -> Result<Self, InvalidSchemas> {
        let file: Map<String, Value> =
            serde_json::from_str(text).map_err(|why| InvalidSchemas(why.to_string()))?;
        let read = |(slug, value): (String, Value)| {
            let data = data(&value)
                .ok_or_else(|| InvalidSchemas(format!("`{slug}` is not as pgflow writes it")));
            Ok((slug, data?))
        };
        let versions = file.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { versions })
    }
}

fn data(value: &Value) -> Option<StoredData> {
    let steps = value.get("steps")?.as_object()?.iter();
    Some(StoredData {
        input: form(value.get("input")?)?,
        steps: steps
            .map(|(slug, value)| Some((slug.clone(), form(value)?)))
            .collect::<Option<_>>()?,
    })
}

fn form(value: &Value) -> Option<StoredForm> {
    let written = value.get("written")?.clone();
    Some(StoredForm {
        read: value.get("read").unwrap_or(&written).clone(),
        earlier: value.get("earlier").and_then(Value::as_array).cloned().unwrap_or_default(),
        written,
    })
}

impl fmt::Display for StoredSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions: Map<_, _> = self
            .versions
            .iter()
            .map(|(slug, StoredData { input, steps })| {
                let steps: Map<_, _> =
                    steps.iter().map(|(slug, form)| (slug.clone(), form_json(form))).collect();
                let data = serde_json::json!({ "input": form_json(input), "steps": steps });
                (slug.clone(), data)
            })
            .collect();
        writeln!(f, "{:#}", Value::Object(versions))
    }
}

/// What is as usual is left out.
fn form_json(StoredForm { written, read, earlier }: &StoredForm) -> Value {
    let mut json = Map::new();
    json.insert("written".to_owned(), written.clone());
    if read != written {
        json.insert("read".to_owned(), read.clone());
    }
    if !earlier.is_empty() {
        json.insert("earlier".to_owned(), Value::Array(earlier.clone()));
    }
    Value::Object(json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(written: &[&str], required: &[&str]) -> StoredForm {
        let fields: Map<_, _> =
            written.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
        let schema = |required: &[&str]| json!({ "type": "object", "properties": fields, "required": required });
        StoredForm { written: schema(written), read: schema(required), earlier: Vec::new() }
    }

    fn data(input: StoredForm) -> StoredData {
        StoredData { input, steps: BTreeMap::new() }
    }

    #[test]
    fn reads_what_it_writes() {
        let mut form = object(&["a", "b"], &["a"]);
        form.earlier.push(json!({ "type": "string" }));
        let steps = [("pay".to_owned(), object(&["a"], &["a"]))].into();
        let versions = [("f".to_owned(), StoredData { input: form, steps })].into();
        let schemas = StoredSchemas { versions };
        assert_eq!(schemas.to_string().parse(), Ok(schemas));
        for (text, words) in [("{", "EOF"), (r#"{ "f": 1 }"#, "`f` is not as pgflow writes it")] {
            let error = text.parse::<StoredSchemas>().expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn what_was_written_earlier_has_to_be_read_too() {
        let (first, second) = (object(&["a"], &["a"]), object(&["a", "b"], &["a"]));
        let third = object(&["a", "b"], &["a", "b"]);
        assert_eq!(second.since(&first, None).map(|it| it.readable), Some(Readable::Both));
        // Everything that the second writes can be read, but not what the first has written.
        assert_eq!(third.since(&second, None), None);
        let second = data(second).after(&data(first), &|_| false);
        let change = third.since(&second.input, None).expect("a change");
        assert_eq!(change.readable, Readable::Breaking);
        assert_eq!(
            change.to_string(),
            "input of the run: breaking\n  $.b: field was added without a default"
        );
    }

    #[test]
    fn what_is_accepted_is_left_behind() {
        let (first, second) = (data(object(&["a"], &["a"])), data(object(&["b"], &["b"])));
        assert_eq!(second.clone().after(&first, &|_| true).input.earlier, [] as [Value; 0]);
        assert_eq!(second.after(&first, &|_| false).input.earlier, [first.input.written]);
    }

    #[test]
    fn a_deleted_flow_is_forgotten_with_its_versions() {
        let names = ["f", "f__v2", "f__v12", "fo", "f__vx"];
        let versions = names.map(|name| (name.to_owned(), data(object(&[], &[])))).into();
        let mut schemas = StoredSchemas { versions };
        schemas.forget("f");
        assert_eq!(schemas.versions.into_keys().collect::<Vec<_>>(), ["f__vx", "fo"]);
    }
}
