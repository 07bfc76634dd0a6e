//! How much a payload weighs, about, and without writing it down.

use serde_json::Value;

/// About as many bytes as the value has when it is written.
pub fn weight(value: &Value) -> usize {
    usize::MAX - left_of(usize::MAX, value).unwrap_or(0)
}

/// Bytes of a payload that goes with others: a batch of them takes much less time than an answer may.
const SMALL: usize = 1 << 16;

/// Whether it may go with others.
pub fn is_small(input: &Value) -> bool {
    left_of(SMALL, input).is_some()
}

/// What is left of so many bytes; nothing, if it is heavier.
fn left_of(bytes: usize, value: &Value) -> Option<usize> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => bytes.checked_sub(4),
        Value::String(text) => bytes.checked_sub(text.len() + 2),
        Value::Array(items) => items.iter().try_fold(bytes.checked_sub(2)?, left_of),
        Value::Object(entries) => {
            entries.iter().try_fold(bytes.checked_sub(2)?, |bytes, (key, value)| {
                left_of(bytes.checked_sub(key.len() + 4)?, value)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_big_is_big_in_any_form() {
        let text = "x".repeat(SMALL);
        let many: Vec<u8> = vec![0; SMALL];
        for big in [json!(text), json!({ "in": { "text": text } }), json!({ "in": [many] })] {
            assert!(!is_small(&big) && weight(&big) >= SMALL);
        }
        let half = &text[..SMALL / 2];
        assert!(!is_small(&json!({ "one": half, "two": half })));
        assert!(is_small(&json!({ "one": half, "two": [1, 2.5, null, true] })));
        let keys: serde_json::Map<_, _> =
            (0..100).map(|n| (format!("{n}{}", "k".repeat(SMALL / 100)), json!(1))).collect();
        assert!(!is_small(&Value::Object(keys)));
    }
}
