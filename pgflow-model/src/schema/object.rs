//! Fields.

use serde_json::{Map, Value};

use super::Compare;

impl<'a> Compare<'a> {
    /// Fields one by one, and the values of maps.
    pub(super) fn objects(&mut self, before: &'a Value, now: &'a Value) {
        let (old, new) = (fields(before), fields(now));
        for (name, old) in old.into_iter().flatten() {
            match new.and_then(|new| new.get(name)) {
                Some(new) => self.field(name, before, now, (old, new)),
                None => self.removed(name, now),
            }
        }
        let is_gone = |name: &&String| new.is_none_or(|new| !new.contains_key(*name));
        for (name, field) in new.into_iter().flatten() {
            if old.is_none_or(|old| !old.contains_key(name)) {
                let alike = old.into_iter().flatten().filter(|(_, old)| is_alike(old, field));
                let other = alike.map(|(name, _)| name).find(is_gone);
                self.added(name, requires(now, name), other);
            }
        }
        if let (Some(old), Some(new)) =
            (before.get("additionalProperties"), now.get("additionalProperties"))
            && old.is_object()
            && new.is_object()
        {
            self.below(".*", old, new);
        }
    }

    fn field(
        &mut self,
        name: &str,
        before: &'a Value,
        now: &'a Value,
        (old, new): (&'a Value, &'a Value),
    ) {
        match (requires(before, name), requires(now, name)) {
            (false, true) => self.at(name, false, "field could be missing, now it is required"),
            (true, false) => self.at(name, true, "field can now be missing"),
            _ => {}
        }
        self.below(&format!(".{name}"), old, new);
    }

    fn removed(&mut self, name: &str, now: &'a Value) {
        match now.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                self.at(name, false, "field was removed, and unknown fields are refused");
            }
            _ => self.at(name, true, "field was removed"),
        }
    }

    /// A field that may be missing where an `other` one like it is gone: it may be the same under another name, and what
    /// runs have stored would be lost without a word.
    fn added(&mut self, name: &str, is_required: bool, other: Option<&String>) {
        match (is_required, other) {
            (true, _) => self.at(name, false, "field was added without a default"),
            (false, None) => self.at(name, true, "field was added with a default"),
            (false, Some(other)) => self.at(
                name,
                false,
                format!("field was added with a default while `{other}` is gone: if that was renamed, its values are lost"),
            ),
        }
    }

    fn at(&mut self, name: &str, is_readable: bool, what: impl Into<String>) {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(name);
        self.report(is_readable, what);
        self.path.truncate(length);
    }
}

/// Whether two fields hold the same kind of value, or nothing.
fn is_alike(old: &Value, new: &Value) -> bool {
    let (old, new) = (kinds(old), kinds(new));
    !old.is_empty() && old == new
}

/// The types of a value, and the definitions that it refers to, but for `null`.
fn kinds(schema: &Value) -> Vec<&Value> {
    let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let mut kinds: Vec<_> = choices.flat_map(kinds).collect();
    match schema.get("type") {
        Some(Value::Array(types)) => kinds.extend(types),
        one => kinds.extend(one),
    }
    kinds.extend(schema.get("$ref"));
    kinds.retain(|kind| *kind != "null");
    kinds
}

fn fields(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}
