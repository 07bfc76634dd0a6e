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
        for name in new.into_iter().flatten().map(|(name, _)| name) {
            if old.is_none_or(|old| !old.contains_key(name)) {
                let is_required = requires(now, name);
                let how = if is_required { "without" } else { "with" };
                self.at(name, !is_required, format!("field was added {how} a default"));
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

    fn at(&mut self, name: &str, is_readable: bool, what: impl Into<String>) {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(name);
        self.report(is_readable, what);
        self.path.truncate(length);
    }
}

fn fields(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}
