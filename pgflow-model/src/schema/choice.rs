//! Enums: values, or variants with data.

use serde_json::Value;

use super::Compare;

impl<'a> Compare<'a> {
    /// Compares a choice with a choice; false if neither is one.
    pub(super) fn choices(&mut self, before: &'a Value, now: &'a Value) -> bool {
        let (old, new) = (variants(before), variants(now));
        match (old, new) {
            (None, None) => false,
            (old, new) => {
                let old = old.unwrap_or_else(|| vec![before]);
                let new = new.unwrap_or_else(|| vec![now]);
                self.variants(&old, &new);
                true
            }
        }
    }

    /// Each variant that was written has to be one that is read.
    fn variants(&mut self, old: &[&'a Value], new: &[&'a Value]) {
        let (before, now) = (self.before, self.now);
        let with_data: Vec<_> =
            new.iter().copied().filter(|variant| values(now.resolve(variant)).is_empty()).collect();
        for variant in old {
            let values = values(before.resolve(variant));
            for value in &values {
                if !self.has_value(new, value) {
                    self.report(false, format!("variant {value} was removed"));
                }
            }
            if values.is_empty() && !with_data.iter().any(|now| self.is_readable(variant, now)) {
                self.variant(variant, &with_data);
            }
        }
        let known: Vec<_> =
            old.iter().flat_map(|variant| values(before.resolve(variant))).collect();
        for value in new.iter().flat_map(|variant| values(now.resolve(variant))) {
            if !known.contains(&value) {
                self.report(true, format!("variant {value} was added"));
            }
        }
        if with_data.len() > old.len() {
            self.report(true, "a variant was added");
        }
    }

    fn has_value(&self, variants: &[&'a Value], value: &Value) -> bool {
        let is_one = |variant: &&Value| {
            let resolved = self.now.resolve(variant);
            let values = values(resolved);
            values.contains(&value)
                || values.is_empty() && super::shape::accepts_type_of(resolved, value)
        };
        variants.iter().any(is_one)
    }

    /// A variant with data that cannot be read: the one of that name says why.
    fn variant(&mut self, variant: &'a Value, new: &[&'a Value]) {
        let name = |schema: &'a Value| tag(schema);
        let old = name(self.before.resolve(variant));
        let same = new.iter().find(|now| old.is_some() && name(self.now.resolve(now)) == old);
        match (same, old, new) {
            (Some(now), _, _) | (None, None, [now]) => self.schemas(variant, now),
            (None, old, _) => {
                let old = old.map_or("of another form".to_owned(), |name| format!("\"{name}\""));
                self.report(false, format!("variant {old} was removed"));
            }
        }
    }
}

/// The alternatives of a schema that has some.
fn variants(schema: &Value) -> Option<Vec<&Value>> {
    let list = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array());
    if let Some(list) = list {
        return Some(list.iter().collect());
    }
    (schema.get("enum").is_some() || schema.get("const").is_some()).then(|| vec![schema])
}

/// The values of a variant that has no data.
fn values(variant: &Value) -> Vec<&Value> {
    match (variant.get("const"), variant.get("enum")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// What tells a variant from the others: its only field, or the constant in one.
fn tag(variant: &Value) -> Option<String> {
    let fields = variant.get("properties")?.as_object()?;
    let constant = fields
        .iter()
        .find_map(|(key, field)| Some(format!("{key}: {}", field.get("const")?.as_str()?)));
    constant.or_else(|| (fields.len() == 1).then(|| fields.keys().next().cloned())?)
}
