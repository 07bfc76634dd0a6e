//! JSON patterns: conditions on what a step would be started with.

use std::fmt;

use serde_json::{Map, Value};

/// A JSON object that another value has to contain, as Postgres' `@>` means it.
///
/// ```
/// use pgflow_model::Pattern;
/// use serde_json::json;
///
/// let paying: Pattern = r#"{ "plan": "pro" }"#.parse()?;
/// assert!(paying.is_in(&json!({ "plan": "pro", "seats": 3 })));
/// assert!(!paying.is_in(&json!({ "plan": "free" })));
/// # Ok::<(), pgflow_model::InvalidPattern>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern(Map<String, Value>);

/// Why a text or a value is not a pattern.
///
/// ```
/// use pgflow_model::{InvalidPattern, Pattern};
///
/// let why = "[1]".parse::<Pattern>().unwrap_err();
/// assert_eq!(why, InvalidPattern::NotAnObject("an array"));
/// assert_eq!(why.to_string(), "it is an array, not a JSON object");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPattern {
    /// It is not JSON; the parser's reason.
    NotJson(String),
    /// It is JSON, but not an object: what it is instead.
    NotAnObject(&'static str),
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(f, "it is not JSON: {why}"),
            Self::NotAnObject(what) => write!(f, "it is {what}, not a JSON object"),
        }
    }
}

impl std::error::Error for InvalidPattern {}

impl Pattern {
    /// Whether `value` contains this pattern.
    pub fn is_in(&self, value: &Value) -> bool {
        value.as_object().is_some_and(|object| contains_fields(object, &self.0))
    }

    /// Whether an object with these fields contains this pattern, without putting it together.
    ///
    /// ```
    /// use pgflow_model::Pattern;
    /// use serde_json::json;
    ///
    /// let paid: Pattern = r#"{ "pay": { "done": true } }"#.parse()?;
    /// let output = json!({ "done": true });
    /// assert!(paid.is_in_fields(|step| (step == "pay").then_some(&output)));
    /// assert!(!paid.is_in_fields(|_| None));
    /// # Ok::<(), pgflow_model::InvalidPattern>(())
    /// ```
    pub fn is_in_fields<'v>(&self, field: impl Fn(&str) -> Option<&'v Value>) -> bool {
        self.0.iter().all(|(key, wanted)| field(key).is_some_and(|found| contains(found, wanted)))
    }

    /// The fields it asks for.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The pattern as JSON.
    pub fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

impl std::str::FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let value: Value =
            serde_json::from_str(text).map_err(|why| InvalidPattern::NotJson(why.to_string()))?;
        Self::try_from(value)
    }
}

impl TryFrom<Value> for Pattern {
    type Error = InvalidPattern;

    fn try_from(value: Value) -> Result<Self, InvalidPattern> {
        match value {
            Value::Object(mut fields) => {
                // One pattern, one text, whatever order its keys were written in.
                fields.sort_keys();
                fields.values_mut().for_each(Value::sort_all_objects);
                Ok(Self(fields))
            }
            Value::Array(_) => Err(InvalidPattern::NotAnObject("an array")),
            Value::String(_) => Err(InvalidPattern::NotAnObject("a string")),
            Value::Number(_) => Err(InvalidPattern::NotAnObject("a number")),
            Value::Bool(_) => Err(InvalidPattern::NotAnObject("a boolean")),
            Value::Null => Err(InvalidPattern::NotAnObject("null")),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

fn contains_fields(value: &Map<String, Value>, pattern: &Map<String, Value>) -> bool {
    pattern.iter().all(|(key, wanted)| value.get(key).is_some_and(|found| contains(found, wanted)))
}

fn contains(value: &Value, pattern: &Value) -> bool {
    match (value, pattern) {
        (Value::Object(value), Value::Object(pattern)) => contains_fields(value, pattern),
        (Value::Array(value), Value::Array(pattern)) => {
            pattern.iter().all(|wanted| value.iter().any(|found| contains(found, wanted)))
        }
        (Value::Number(value), Value::Number(pattern)) => {
            // The database compares numbers by value: 1 is 1.0.
            value == pattern
                || (value.is_f64() || pattern.is_f64()) && value.as_f64() == pattern.as_f64()
        }
        _ => value == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pattern(value: Value) -> Pattern {
        Pattern::try_from(value).expect("an object")
    }

    #[test]
    fn contains_as_the_database_does() {
        for (value, wanted, is_in) in [
            (json!({"a": 1, "b": 2}), json!({"a": 1}), true),
            (json!({"a": 1}), json!({}), true),
            (json!({"a": 1}), json!({"a": 2}), false),
            (json!({}), json!({"a": null}), false),
            (json!({"a": null}), json!({"a": null}), true),
            (json!({"a": {"b": [1, {"c": 2, "d": 3}]}}), json!({"a": {"b": [{"c": 2}]}}), true),
            (json!({"a": [1, 2]}), json!({"a": [2, 1, 1]}), true),
            (json!({"a": [1, 2]}), json!({"a": 1}), false),
            (json!({"a": 1}), json!({"a": 1.0}), true),
            (json!({"a": "1"}), json!({"a": 1}), false),
            (json!([{"a": 1}]), json!({"a": 1}), false),
        ] {
            assert_eq!(pattern(wanted.clone()).is_in(&value), is_in, "{value} @> {wanted}");
        }
    }

    #[test]
    fn large_numbers_are_compared_exactly() {
        let wanted = pattern(json!({"id": 9_007_199_254_740_993_u64}));
        assert!(!wanted.is_in(&json!({"id": 9_007_199_254_740_992_u64})));
    }

    #[test]
    fn only_objects_are_patterns() {
        assert_eq!("[1]".parse::<Pattern>(), Err(InvalidPattern::NotAnObject("an array")));
        assert!(matches!("{".parse::<Pattern>(), Err(InvalidPattern::NotJson(_))));
    }

    #[test]
    fn one_pattern_has_one_text() {
        let text = r#"{"b": {"d": 1, "c": 2}, "a": 3}"#;
        let pattern: Pattern = text.parse().expect("a pattern");
        assert_eq!(pattern.to_string(), r#"{"a":3,"b":{"c":2,"d":1}}"#);
    }
}
