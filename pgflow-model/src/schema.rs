//! Whether code can read the JSON that earlier code has written, by their JSON Schemas.

mod choice;
mod number;
mod object;
mod resolve;
mod shape;

use std::fmt;

use serde_json::Value;

use resolve::Root;

/// A difference between the schema of what was written and that of what is read now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    /// Where it is in the JSON, such as `$.basket[].cents`.
    pub path: String,
    /// Whether the code can read everything that was written before.
    pub is_readable: bool,
    /// What changed.
    pub what: String,
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_readable { "readable" } else { "NOT readable" };
        write!(f, "{}: {} ({verdict})", self.path, self.what)
    }
}

/// How what is read now differs from what was written before.
///
/// ```
/// use pgflow_model::schema_changes;
/// use serde_json::json;
///
/// let before = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
/// let now = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
/// let changes = schema_changes(&before, &now);
/// assert_eq!(changes[0].to_string(), "$.a: type was integer, now string (NOT readable)");
/// ```
pub fn schema_changes(before: &Value, now: &Value) -> Vec<SchemaChange> {
    let mut compare = Compare {
        before: Root(before),
        now: Root(now),
        path: String::from("$"),
        seen: Vec::new(),
        found: Vec::new(),
    };
    if before != now {
        compare.schemas(before, now);
    }
    compare.found
}

/// A comparison on its way through both schemas.
struct Compare<'a> {
    before: Root<'a>,
    now: Root<'a>,
    path: String,
    /// Pairs of definitions that are being compared: types may hold themselves.
    seen: Vec<(&'a str, &'a str)>,
    found: Vec<SchemaChange>,
}

impl<'a> Compare<'a> {
    fn report(&mut self, is_readable: bool, what: impl Into<String>) {
        let change = SchemaChange { path: self.path.clone(), is_readable, what: what.into() };
        if !self.found.contains(&change) {
            self.found.push(change);
        }
    }

    /// Compares what is at a place below this one.
    fn below(&mut self, step: &str, before: &'a Value, now: &'a Value) {
        let length = self.path.len();
        self.path.push_str(step);
        self.schemas(before, now);
        self.path.truncate(length);
    }

    /// The same comparison, whose findings are not kept: whether all of it can be read.
    fn is_readable(&self, before: &'a Value, now: &'a Value) -> bool {
        let mut attempt = Compare {
            before: self.before,
            now: self.now,
            path: self.path.clone(),
            seen: self.seen.clone(),
            found: Vec::new(),
        };
        attempt.schemas(before, now);
        attempt.found.iter().all(|change| change.is_readable)
    }

    fn schemas(&mut self, before: &'a Value, now: &'a Value) {
        let names = (Root::name(before), Root::name(now));
        if let (Some(a), Some(b)) = names {
            if self.seen.contains(&(a, b)) {
                return;
            }
            self.seen.push((a, b));
        }
        let (before, now) = (self.before.resolve(before), self.now.resolve(now));
        self.resolved(before, now);
        if let (Some(_), Some(_)) = names {
            self.seen.pop();
        }
    }

    fn resolved(&mut self, before: &'a Value, now: &'a Value) {
        if is_anything(now) {
            if !is_anything(before) {
                self.report(true, "can now be anything");
            }
        } else if is_anything(before) {
            self.report(false, "could be anything");
        } else if !self.choices(before, now) && self.types(before, now) {
            self.numbers(before, now);
            self.objects(before, now);
            self.arrays(before, now);
        }
    }
}

/// A schema without any demand.
fn is_anything(schema: &Value) -> bool {
    const DEMANDS: [&str; 12] = [
        "type",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "allOf",
        "$ref",
        "properties",
        "required",
        "items",
        "format",
        "not",
    ];
    match schema {
        Value::Object(fields) => DEMANDS.iter().all(|demand| !fields.contains_key(*demand)),
        other => *other == Value::Bool(true),
    }
}

#[cfg(test)]
mod tests;
