//! What a payload may be, on every database.

use serde_json::Value;

/// Limits of payloads.
///
/// ```
/// use pgflow_machine::{Limits, PayloadError, check_payload};
/// use serde_json::json;
///
/// let limits = Limits::default();
/// assert!(check_payload(&json!({ "name": "Ann" }), &limits).is_ok());
/// let error = check_payload(&json!({ "names": ["Ann", "B\0b"] }), &limits).unwrap_err();
/// assert_eq!(error, PayloadError::Nul { path: "$.names[1]".into() });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a payload, as Postgres writes JSON: with a blank after each comma and colon.
    pub max_bytes: usize,
    /// Levels: a number alone is one, `[1]` is two.
    pub max_depth: usize,
    /// Elements that a map may have.
    pub max_fanout: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 4 << 20, max_depth: 100, max_fanout: 250_000 }
    }
}

impl Limits {
    /// How many tasks a map over so many elements has.
    pub fn check_fanout(&self, elements: usize) -> Result<u32, PayloadError> {
        let too_wide = PayloadError::TooWide { elements, limit: self.max_fanout };
        if elements > self.max_fanout {
            return Err(too_wide);
        }
        u32::try_from(elements).map_err(|_| too_wide)
    }
}

/// What a value is, as Postgres' `jsonb_typeof` says it.
///
/// ```
/// assert_eq!(pgflow_machine::type_name(&serde_json::json!([])), "array");
/// ```
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Why a payload can't be stored. Paths are like `$.lines[3].price`.
///
/// ```
/// use pgflow_machine::{Limits, PayloadError, check_payload};
///
/// let error = check_payload(&"\0".into(), &Limits::default()).unwrap_err();
/// assert!(matches!(error, PayloadError::Nul { path } if path == "$"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// A text holds the character NUL, which Postgres' `jsonb` can't.
    #[error("the text at {path} contains the character NUL, which cannot be stored")]
    Nul {
        /// Where.
        path: String,
    },
    /// A number is not finite, which JSON can't express.
    #[error("the number at {path} is {number}, which JSON has no form for")]
    NotFinite {
        /// Where.
        path: String,
        /// `NaN`, `inf` or `-inf`.
        number: String,
    },
    /// A number does not fit 64 bits.
    #[error("the number at {path} is {number}, which does not fit 64 bits")]
    TooBig {
        /// Where.
        path: String,
        /// The number.
        number: String,
    },
    /// Too many levels.
    #[error("the value at {path} is nested deeper than {limit} levels")]
    TooDeep {
        /// Where the limit is passed.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// A type's own `Serialize` gave up, or a key of a map is not a text.
    #[error("the value at {path} has no form in JSON: {reason}")]
    NotJson {
        /// Where.
        path: String,
        /// Why.
        reason: String,
    },
    /// Too many bytes.
    #[error("it has {bytes} bytes as JSON, and the limit is {limit}")]
    TooLarge {
        /// How many it has.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// More elements than a map may have.
    #[error("it has {elements} elements to map over, and the limit is {limit}")]
    TooWide {
        /// How many it has.
        elements: usize,
        /// The limit.
        limit: usize,
    },
}

/// Whether every database can keep this value.
pub fn check_payload(value: &Value, limits: &Limits) -> Result<(), PayloadError> {
    let mut bytes = 0;
    walk(value, &mut Path::default(), limits, &mut bytes)?;
    if bytes > limits.max_bytes {
        return Err(PayloadError::TooLarge { bytes, limit: limits.max_bytes });
    }
    Ok(())
}

/// How many bytes a value has as JSON, as Postgres writes it.
///
/// ```
/// use pgflow_machine::payload_bytes;
/// use serde_json::json;
///
/// assert_eq!(payload_bytes(&json!({ "a": [1, true] })), r#"{"a": [1, true]}"#.len());
/// assert_eq!(payload_bytes(&json!(1e20)), "100000000000000000000".len());
/// ```
pub fn payload_bytes(value: &Value) -> usize {
    let mut bytes = 0;
    let any = Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_fanout: usize::MAX };
    // Only a NUL is left to find, which no database has.
    let _ = walk(value, &mut Path::default(), &any, &mut bytes);
    bytes
}

/// Where a value is, spelled out only when something is wrong there.
#[derive(Default)]
struct Path<'v>(Vec<PathSegment<'v>>);

enum PathSegment<'v> {
    Key(&'v str),
    Index(usize),
}

impl Path<'_> {
    fn text(&self) -> String {
        let part = |part: &PathSegment<'_>| match part {
            PathSegment::Key(key) if is_plain(key) => format!(".{key}"),
            PathSegment::Key(key) => format!("[{}]", Value::from(*key)),
            PathSegment::Index(index) => format!("[{index}]"),
        };
        std::iter::once("$".to_owned()).chain(self.0.iter().map(part)).collect()
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn walk<'v>(
    value: &'v Value,
    path: &mut Path<'v>,
    limits: &Limits,
    bytes: &mut usize,
) -> Result<(), PayloadError> {
    if path.0.len() >= limits.max_depth {
        return Err(PayloadError::TooDeep { path: path.text(), limit: limits.max_depth });
    }
    match value {
        Value::Null => *bytes += 4,
        Value::Bool(flag) => *bytes += if *flag { 4 } else { 5 },
        Value::Number(number) => *bytes += digits(&number.to_string()),
        Value::String(text) => *bytes += length(text, path)?,
        Value::Array(elements) => {
            *bytes += brackets_and_commas(elements.len());
            for (index, element) in elements.iter().enumerate() {
                path.0.push(PathSegment::Index(index));
                walk(element, path, limits, bytes)?;
                path.0.pop();
            }
        }
        Value::Object(fields) => {
            *bytes += brackets_and_commas(fields.len());
            for (key, field) in fields {
                path.0.push(PathSegment::Key(key));
                *bytes += length(key, path)? + 2;
                walk(field, path, limits, bytes)?;
                path.0.pop();
            }
        }
    }
    Ok(())
}

fn brackets_and_commas(elements: usize) -> usize {
    2 + 2 * elements.saturating_sub(1)
}

/// Bytes of a number without its exponent: Postgres writes all digits.
fn digits(number: &str) -> usize {
    let Some((mantissa, power)) = number.split_once(['e', 'E']) else { return number.len() };
    let (length, power) = (mantissa.len(), power.parse::<isize>().unwrap_or_default());
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let whole = length - fraction - usize::from(fraction > 0);
    match usize::try_from(power) {
        Ok(power) if power >= fraction => whole + power,
        Ok(_) => length,
        // One digit, moved behind the point.
        Err(_) => whole + 1 + fraction + power.unsigned_abs(),
    }
}

/// Bytes of a text as JSON.
fn length(text: &str, path: &Path<'_>) -> Result<usize, PayloadError> {
    let mut bytes = 2 + text.len();
    for byte in text.bytes().filter(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        bytes += match byte {
            0 => return Err(PayloadError::Nul { path: path.text() }),
            8 | 9 | 10 | 12 | 13 | b'"' | b'\\' => 1,
            _ => 5,
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn counts_the_bytes_that_would_be_written() {
        let written =
            r#"{"a": [1, -2.5, true, null, "é\n\u0001\"\\"], "b": {}, "c": [], "d": false}"#;
        let value = serde_json::from_str(written).expect("JSON");
        let mut bytes = 0;
        walk(&value, &mut Path::default(), &Limits::default(), &mut bytes).expect("fine");
        assert_eq!(bytes, written.len());
    }

    #[test]
    fn counts_the_digits_that_an_exponent_stands_for() {
        for (number, written) in [
            (f64::MAX, 309),
            (-f64::MAX, 310),
            (5e-324, 326),
            (1.5e-7, 10),
            (1e16, 17),
            (1.5e300, 301),
            (0.25, 4),
            (1e15, "1000000000000000.0".len()),
        ] {
            assert_eq!(payload_bytes(&json!(number)), written, "{number:e}");
        }
    }

    #[test]
    fn refuses_what_is_too_large_by_a_byte() {
        let text = Value::String("x".repeat(98));
        let limits = |max_bytes| Limits { max_bytes, ..Limits::default() };
        assert_eq!(check_payload(&text, &limits(100)), Ok(()));
        let error = PayloadError::TooLarge { bytes: 100, limit: 99 };
        assert_eq!(check_payload(&text, &limits(99)), Err(error));
    }

    #[test]
    fn refuses_the_first_level_too_many() {
        assert_eq!(check_payload(&nested(99), &Limits::default()), Ok(()));
        let path = format!("${}", "[0]".repeat(100));
        let error = PayloadError::TooDeep { path, limit: 100 };
        assert_eq!(check_payload(&nested(100), &Limits::default()), Err(error));
    }

    #[test]
    fn finds_a_nul_in_a_key() {
        let error = check_payload(&json!({ "a b": { "\0": 1 } }), &Limits::default()).unwrap_err();
        assert_eq!(error, PayloadError::Nul { path: "$[\"a b\"][\"\\u0000\"]".into() });
    }
}
