//! Whether a payload fits a JSON Schema: as much of it as describes types of Rust.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::type_name;

/// References followed one after another before a schema is taken for one that goes in circles.
const MAX_REFS: u32 = 64;

/// So many parts of a payload are compared with parts of a schema. A schema with alternatives in alternatives can be made to take
/// for ever otherwise.
const MAX_STEPS: u32 = 100_000;

/// Where a payload does not fit.
///
/// ```
/// use pgflow_machine::wait::mismatch;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "required": ["amount"], "properties": { "amount": { "type": "integer" } } });
/// assert_eq!(mismatch(&schema, &json!({ "amount": 7 })), None);
/// let found = mismatch(&schema, &json!({ "amount": "7" })).unwrap();
/// assert_eq!((found.path.as_str(), found.message()), ("/amount", "expected integer, found string".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// A JSON pointer; empty if it is the whole.
    pub path: String,
    /// What the schema says.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl Mismatch {
    /// In words.
    pub fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }
}

/// The first place where a value does not fit a schema. What it does not know of a schema accepts everything.
pub fn mismatch(schema: &Value, value: &Value) -> Option<Mismatch> {
    Check { root: schema, steps: Cell::new(0) }.check(schema, value, "", 0)
}

struct Check<'s> {
    root: &'s Value,
    steps: Cell<u32>,
}

impl Check<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &str, refs: u32) -> Option<Mismatch> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS {
            return Some(differs(path, "something that is simpler to check", value));
        }
        let schema = match schema {
            Value::Bool(false) => return Some(differs(path, "nothing", value)),
            Value::Object(schema) => schema,
            _ => return None,
        };
        self.reference(schema, value, path, refs)
            .or_else(|| of_type(schema, value, path))
            .or_else(|| of_values(schema, value, path))
            .or_else(|| in_range(schema, value, path))
            .or_else(|| in_format(schema, value, path))
            .or_else(|| self.object(schema, value, path, refs))
            .or_else(|| self.array(schema, value, path, refs))
            .or_else(|| self.combined(schema, value, path, refs))
    }

    fn reference(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        refs: u32,
    ) -> Option<Mismatch> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        let target = self.root.pointer(pointer).filter(|_| refs < MAX_REFS)?;
        self.check(target, value, path, refs + 1)
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        refs: u32,
    ) -> Option<Mismatch> {
        let fields = value.as_object()?;
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut missing =
            required.filter_map(Value::as_str).filter(|name| !fields.contains_key(*name));
        if let Some(name) = missing.next() {
            let expected = "a value".to_owned();
            return Some(Mismatch { path: below(path, name), expected, found: "nothing".into() });
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        let mut names: Vec<_> = fields.keys().collect();
        // A tag first: what it rules out need not be looked at.
        let is_tag = |name: &str| Some(properties?.get(name)?.get("const").is_some());
        names.sort_unstable_by_key(|name| (is_tag(name) != Some(true), *name));
        names.into_iter().find_map(|name| {
            let known = properties.and_then(|properties| properties.get(name));
            self.check(known.or(others)?, &fields[name], &below(path, name), refs)
        })
    }

    fn array(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        refs: u32,
    ) -> Option<Mismatch> {
        let elements = value.as_array()?;
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let length = elements.len() as u64;
        let count = |many: u64, word: &str| format!("at {word} {many} elements");
        let wrong = match (bound("minItems"), bound("maxItems")) {
            (Some(min), _) if length < min => Some(count(min, "least")),
            (_, Some(max)) if length > max => Some(count(max, "most")),
            _ => None,
        };
        if let Some(expected) = wrong {
            return Some(Mismatch { path: path.into(), expected, found: length.to_string() });
        }
        let first =
            schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = schema.get("items");
        elements.iter().enumerate().find_map(|(at, element)| {
            self.check(first.get(at).or(rest)?, element, &below(path, &at.to_string()), refs)
        })
    }

    fn combined(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        refs: u32,
    ) -> Option<Mismatch> {
        let of = |name: &str| schema.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let wrong = |schema: &Value| self.check(schema, value, path, refs);
        if let Some(wrong) = of("allOf").unwrap_or_default().iter().find_map(wrong) {
            return Some(wrong);
        }
        for alternatives in [of("anyOf"), of("oneOf")].into_iter().flatten() {
            let wrongs: Option<Vec<_>> = alternatives.iter().map(wrong).collect();
            // The one that got furthest says most.
            let best = |wrongs: Vec<Mismatch>| {
                let deepest = wrongs.iter().map(|wrong| wrong.path.len()).max()?;
                let mut deepest = wrongs.into_iter().filter(|wrong| wrong.path.len() == deepest);
                deepest.next().filter(|wrong| wrong.path.len() > path.len())
            };
            if let Some(wrongs) = wrongs {
                return best(wrongs)
                    .or_else(|| Some(differs(path, "one of the alternatives", value)));
            }
        }
        None
    }
}

fn of_type(schema: &Map<String, Value>, value: &Value, path: &str) -> Option<Mismatch> {
    let types: Vec<&str> = match schema.get("type")? {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let is_of = |name: &&str| match *name {
        "integer" => is_integer(value),
        name => name == type_name(value),
    };
    (!types.iter().any(is_of)).then(|| differs(path, types.join(" or "), value))
}

/// As Rust reads them: `9.0` is none.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

fn of_values(schema: &Map<String, Value>, value: &Value, path: &str) -> Option<Mismatch> {
    let only = schema.get("const");
    if let Some(only) = only.filter(|only| *only != value) {
        return Some(differs(path, only.to_string(), value));
    }
    let values = schema.get("enum")?.as_array()?;
    (!values.contains(value)).then(|| differs(path, "one of the values listed", value))
}

fn in_range(schema: &Map<String, Value>, value: &Value, path: &str) -> Option<Mismatch> {
    let number = value.as_f64()?;
    let bound = |name: &str| schema.get(name).and_then(|bound| Some((bound, bound.as_f64()?)));
    let (least, most) = (bound("minimum"), bound("maximum"));
    let expected = match (least, most) {
        (Some((text, least)), _) if number < least => format!("at least {text}"),
        (_, Some((text, most))) if number > most => format!("at most {text}"),
        _ => return None,
    };
    Some(differs(path, expected, value))
}

/// Integers of Rust say how long they are by their format, and not all by their bounds.
fn in_format(schema: &Map<String, Value>, value: &Value, path: &str) -> Option<Mismatch> {
    let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))?;
    let (least, most) = match schema.get("format")?.as_str()? {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int" | "int64" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint" | "uint64" => (0, i128::from(u64::MAX)),
        _ => return None,
    };
    let expected = if number < least {
        format!("at least {least}")
    } else if number > most {
        format!("at most {most}")
    } else {
        return None;
    };
    Some(differs(path, expected, value))
}

/// A value may be long or secret: only its type is said.
fn differs(path: &str, expected: impl Into<String>, value: &Value) -> Mismatch {
    let (expected, found) = (expected.into(), type_name(value).to_owned());
    Mismatch { path: path.into(), expected, found }
}

/// A pointer to a field or element.
fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}
