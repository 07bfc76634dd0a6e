//! Types, arrays and tuples.

use serde_json::Value;

use super::Compare;

impl<'a> Compare<'a> {
    /// Whether the types go together, so that a closer look makes sense.
    pub(super) fn types(&mut self, before: &'a Value, now: &'a Value) -> bool {
        let (old, new) = (types(before), types(now));
        if old.is_empty() || new.is_empty() || old == new {
            return true;
        }
        let reads =
            |kind: &&str| new.contains(kind) || *kind == "integer" && new.contains(&"number");
        let is_readable = old.iter().all(reads);
        self.report(
            is_readable,
            format!("type was {}, now {}", old.join(" or "), new.join(" or ")),
        );
        is_readable
    }

    /// Elements, and tuples by position.
    pub(super) fn arrays(&mut self, before: &'a Value, now: &'a Value) {
        let tuple = |schema: &'a Value| schema.get("prefixItems").and_then(Value::as_array);
        match (tuple(before), tuple(now)) {
            (Some(old), Some(new)) => {
                if old.len() != new.len() {
                    let text = format!("had {} elements, now {}", old.len(), new.len());
                    self.report(false, text);
                }
                for (at, (old, new)) in old.iter().zip(new).enumerate() {
                    self.below(&format!("[{at}]"), old, new);
                }
            }
            (None, None) => {
                if let (Some(old), Some(new)) = (before.get("items"), now.get("items")) {
                    self.below("[]", old, new);
                }
                self.lengths(before, now);
            }
            (Some(_), None) => self.report(false, "was a tuple, now a list"),
            (None, Some(_)) => self.report(false, "was a list, now a tuple"),
        }
    }

    fn lengths(&mut self, before: &'a Value, now: &'a Value) {
        let limit = |schema: &'a Value, name: &str| schema.get(name).and_then(Value::as_u64);
        let least = (limit(before, "minItems").unwrap_or(0), limit(now, "minItems").unwrap_or(0));
        let most = (
            limit(before, "maxItems").unwrap_or(u64::MAX),
            limit(now, "maxItems").unwrap_or(u64::MAX),
        );
        if least.0 < least.1 || most.1 < most.0 {
            self.report(false, "can have fewer lengths");
        }
    }
}

/// The types that a schema allows, sorted.
fn types(schema: &Value) -> Vec<&str> {
    let mut types: Vec<_> = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.sort_unstable();
    types
}

/// Whether a schema without constants allows values of this one's type.
pub(super) fn accepts_type_of(schema: &Value, value: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    types(schema).contains(&name)
}
