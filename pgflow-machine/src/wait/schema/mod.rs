//! Whether a payload fits a JSON Schema: as much of it as describes types of Rust.
//!
//! Payloads come from outside. So that none takes for ever, comparisons are counted, nothing is looked at that the schema says nothing
//! about, and paths are put together only where something does not fit.

mod format;
mod value;

use std::cell::Cell;
use std::fmt::Display;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::type_name;
use value::of_value;

/// References followed one after another, at one place of a payload, before a schema is taken for one that goes in circles.
const MAX_REFS: u32 = 64;

/// So many parts of a payload are compared with parts of a schema: with alternatives in alternatives there may be no end to it. Postgres
/// needs seconds for so many.
pub const MAX_COMPARISONS: u32 = 20_000;

/// What is there where a field is missing.
const NOTHING: &str = "nothing";

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
    /// The value is not the only one that it may be there.
    of_constant: bool,
}

impl Mismatch {
    /// In words.
    pub fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    /// The whole is something else.
    pub(super) fn of_all(expected: impl Into<String>, found: impl Into<String>) -> Self {
        let (expected, found) = (expected.into(), found.into());
        Self { path: String::new(), expected, found, of_constant: false }
    }

    /// The value itself is not what it should be. It may be long or secret: only its type is said.
    fn here(expected: impl Into<String>, value: &Value) -> Self {
        Self::of_all(expected, type_name(value))
    }

    /// Of an alternative: how likely it is the one that is meant. Not if the tag is that of another one; hardly if the whole is something
    /// else, or lacks a field.
    fn resemblance(&self) -> u8 {
        match self.path.matches('/').count() {
            1 if self.of_constant => 0,
            0 => 1,
            1 if self.found == NOTHING => 2,
            _ => 3,
        }
    }

    /// The same, seen from what has this field or element.
    fn below(mut self, name: &str) -> Self {
        self.path = format!("/{}{}", name.replace('~', "~0").replace('/', "~1"), self.path);
        self
    }
}

/// The first place where a value does not fit a schema. What it does not know of a schema accepts everything.
pub fn mismatch(schema: &Value, value: &Value) -> Option<Mismatch> {
    let much = || format!("what takes less than {MAX_COMPARISONS} comparisons");
    let too_much = |TooMuch| Some(Mismatch::here(much(), value));
    looked_at(schema, value).unwrap_or_else(too_much)
}

/// The same of what steps and jobs put out. It may be large, and its sender cannot make it smaller: what is not looked at fits.
pub(super) fn mismatch_of_ours(schema: &Value, value: &Value) -> Option<Mismatch> {
    looked_at(schema, value).ok().flatten()
}

/// It takes too many comparisons.
struct TooMuch;

fn looked_at(schema: &Value, value: &Value) -> Result<Option<Mismatch>, TooMuch> {
    let check = Check { root: schema, left: Cell::new(MAX_COMPARISONS) };
    let found = check.check(schema, value, 0);
    // Without a mismatch all was looked at that had to be: who has nothing left fits nothing.
    if found.is_some() && check.left.get() == 0 { Err(TooMuch) } else { Ok(found) }
}

struct Check<'s> {
    root: &'s Value,
    /// Comparisons that may still be made. Without any, nothing fits.
    left: Cell<u32>,
}

impl Check<'_> {
    fn check(&self, schema: &Value, value: &Value, refs: u32) -> Option<Mismatch> {
        self.left.set(self.left.get().saturating_sub(1));
        let schema = match schema {
            _ if self.left.get() == 0 => return Some(Mismatch::here("less", value)),
            Value::Bool(false) => return Some(Mismatch::here("nothing", value)),
            Value::Object(schema) => schema,
            _ => return None,
        };
        self.reference(schema, value, refs)
            .or_else(|| of_value(schema, value))
            .or_else(|| self.object(schema, value))
            .or_else(|| self.array(schema, value))
            .or_else(|| self.combined(schema, value, refs))
    }

    fn reference(&self, schema: &Map<String, Value>, value: &Value, refs: u32) -> Option<Mismatch> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        let target = self.root.pointer(pointer).filter(|_| refs < MAX_REFS)?;
        self.check(target, value, refs + 1)
    }

    fn object(&self, schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
        let fields = value.as_object()?;
        let known = schema.get("properties").and_then(Value::as_object);
        let property = |name: &str| known.and_then(|known| known.get(name));
        let (patterns, others) = (named(schema), schema.get("additionalProperties"));
        let mut names: Vec<&String> = if patterns.is_some() || others.is_some() {
            fields.keys().collect()
        } else {
            let known = known.into_iter().flat_map(Map::keys);
            known.filter(|name| fields.contains_key(*name)).collect()
        };
        names.sort_unstable();
        // A tag first: of what it rules out, nothing else is looked at or missed.
        let is_tag = |name: &&String| property(name).is_some_and(|it| it.get("const").is_some());
        let (tags, values): (Vec<_>, Vec<_>) = names.into_iter().partition(is_tag);
        let wrong = |name: &String| {
            let schema = match (property(name), patterns) {
                (Some(schema), _) => schema,
                (None, Some(patterns)) => by_pattern(patterns, name, others)?,
                (None, None) => others?,
            };
            Some(self.check(schema, &fields[name], 0)?.below(name))
        };
        let first_wrong = |names: Vec<&String>| names.into_iter().find_map(wrong);
        first_wrong(tags).or_else(|| missing(schema, fields)).or_else(|| first_wrong(values))
    }

    fn array(&self, schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
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
            return Some(Mismatch::of_all(expected, length.to_string()));
        }
        let first =
            schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = schema.get("items");
        let looked_at = if rest.is_some() { elements.len() } else { first.len() };
        elements.iter().take(looked_at).enumerate().find_map(|(at, element)| {
            Some(self.check(first.get(at).or(rest)?, element, 0)?.below(&at.to_string()))
        })
    }

    fn combined(&self, schema: &Map<String, Value>, value: &Value, refs: u32) -> Option<Mismatch> {
        let of = |name: &str| schema.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let wrong = |schema: &Value| self.check(schema, value, refs);
        if let Some(wrong) = of("allOf").unwrap_or_default().iter().find_map(wrong) {
            return Some(wrong);
        }
        for alternatives in [of("anyOf"), of("oneOf")].into_iter().flatten() {
            let wrongs: Option<Vec<_>> = alternatives.iter().map(wrong).collect();
            if let Some(wrongs) = wrongs {
                return Some(furthest(wrongs, value));
            }
        }
        let not = schema.get("not")?;
        wrong(not).is_none().then(|| Mismatch::here("something else", value))
    }
}

/// Of alternatives none of which fits, the one that got furthest says most.
fn furthest(wrongs: Vec<Mismatch>, value: &Value) -> Mismatch {
    let how_far = |wrong: &Mismatch| (wrong.resemblance(), wrong.path.len());
    let best = wrongs
        .into_iter()
        .reduce(|best, wrong| if how_far(&wrong) > how_far(&best) { wrong } else { best });
    let best = best.filter(|best| !best.path.is_empty());
    best.unwrap_or_else(|| Mismatch::here("one of the alternatives", value))
}

/// The first field that has to be there and is not.
fn missing(schema: &Map<String, Value>, fields: &Map<String, Value>) -> Option<Mismatch> {
    let required = schema.get("required")?.as_array()?;
    let mut names = required.iter().filter_map(Value::as_str);
    let name = names.find(|name| !fields.contains_key(*name))?;
    Some(Mismatch::of_all("a value", NOTHING).below(name))
}

/// Fields whose names are numbers, as maps have them.
fn named(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("patternProperties").and_then(Value::as_object)
}

/// What a field has to fit, by its name. A pattern that is not known may be meant for any field.
fn by_pattern<'s>(
    patterns: &'s Map<String, Value>,
    name: &str,
    others: Option<&'s Value>,
) -> Option<&'s Value> {
    for (pattern, schema) in patterns {
        let fits = match pattern.as_str() {
            r"^\d+$" => is_key::<u128>(name),
            r"^-?\d+$" => is_key::<i128>(name),
            _ => return None,
        };
        if fits {
            return Some(schema);
        }
    }
    others
}

/// As maps of Rust write and read it: without needless zeros and signs. Which integer of Rust is meant, a pattern does not say.
fn is_key<N: FromStr + Display>(name: &str) -> bool {
    name.parse::<N>().is_ok_and(|number| number.to_string() == name)
}
