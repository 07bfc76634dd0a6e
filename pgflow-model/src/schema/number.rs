//! Ranges of numbers and forms of texts.

use serde_json::Value;

use super::Compare;

impl<'a> Compare<'a> {
    /// A smaller range, or another form of text, refuses values that were written.
    pub(super) fn numbers(&mut self, before: &'a Value, now: &'a Value) {
        let (old, new) = (range(before), range(now));
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            let is_readable = new.0 <= old.0 && old.1 <= new.1;
            let verb = if is_readable { "wider" } else { "smaller" };
            self.report(is_readable, format!("its range is {verb}: {} to {}", new.0, new.1));
        }
        let form = |schema: &'a Value| {
            let is_text = schema.get("type").is_some_and(|kind| kind == "string");
            schema.get("format").and_then(Value::as_str).filter(|_| is_text)
        };
        match (form(before), form(now)) {
            (before, Some(now)) if before != Some(now) => {
                let before = before.unwrap_or("any text");
                self.report(false, format!("form was {before}, now {now}"));
            }
            (Some(before), None) => self.report(true, format!("form was {before}, now any text")),
            _ => {}
        }
    }
}

/// The smallest and the largest value of an integer.
fn range(schema: &Value) -> Option<(i128, i128)> {
    let kind = schema.get("type")?;
    let is_integer = *kind == "integer"
        || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "integer"));
    if !is_integer {
        return None;
    }
    let (low, high) = match schema.get("format").and_then(Value::as_str) {
        Some("int8") => (i8::MIN.into(), i8::MAX.into()),
        Some("int16") => (i16::MIN.into(), i16::MAX.into()),
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64" | "int") => (i64::MIN.into(), i64::MAX.into()),
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        Some("uint64" | "uint") => (0, u64::MAX.into()),
        _ => (i128::MIN, i128::MAX),
    };
    let limit = |name: &str| {
        let value = schema.get(name)?;
        value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
    };
    Some((limit("minimum").unwrap_or(low), limit("maximum").unwrap_or(high)))
}
