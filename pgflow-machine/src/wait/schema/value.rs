//! What a schema says of a value itself: its type, the values it may be, how large it is.

use serde_json::{Map, Value};

use super::Mismatch;
use super::format::has_format;
use crate::type_name;

/// Where a value does not fit, apart from what it contains.
pub(super) fn of_value(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    of_type(schema, value)
        .or_else(|| of_values(schema, value))
        .or_else(|| in_range(schema, value))
        .or_else(|| of_length(schema, value))
        .or_else(|| in_format(schema, value))
}

fn of_type(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    let types: Vec<&str> = match schema.get("type")? {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let is_of = |name: &&str| match *name {
        "integer" => is_integer(value),
        name => name == type_name(value),
    };
    (!types.iter().any(is_of)).then(|| Mismatch::here(types.join(" or "), value))
}

/// As Rust reads them: `9.0` is none.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

fn of_values(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    let only = schema.get("const");
    if let Some(only) = only.filter(|only| *only != value) {
        return Some(Mismatch { of_constant: true, ..Mismatch::here(only.to_string(), value) });
    }
    let values = schema.get("enum")?.as_array()?;
    (!values.contains(value)).then(|| Mismatch::here("one of the values listed", value))
}

fn in_range(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    let number = value.as_f64()?;
    let bound = |name: &str| schema.get(name).and_then(|bound| Some((bound, bound.as_f64()?)));
    let (least, most) = (bound("minimum"), bound("maximum"));
    let expected = match (least, most) {
        (Some((text, least)), _) if number < least => format!("at least {text}"),
        (_, Some((text, most))) if number > most => format!("at most {text}"),
        _ => return None,
    };
    Some(Mismatch::here(expected, value))
}

/// A `char` is a text of one. No more of a text is read than needed.
fn of_length(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    let text = value.as_str()?;
    let bound = |name: &str| usize::try_from(schema.get(name)?.as_u64()?).ok();
    let has = |many: usize| text.chars().take(many).count() == many;
    let expected = match (bound("minLength"), bound("maxLength")) {
        (Some(least), _) if !has(least) => format!("at least {least} characters"),
        (_, Some(most)) if has(most.saturating_add(1)) => format!("at most {most} characters"),
        _ => return None,
    };
    Some(Mismatch::here(expected, value))
}

fn in_format(schema: &Map<String, Value>, value: &Value) -> Option<Mismatch> {
    let format = schema.get("format")?.as_str()?;
    match value {
        Value::Number(_) => of_integer(format, value),
        Value::String(text) if !has_format(format, text) => {
            Some(Mismatch::here(format!("a text of the format {format}"), value))
        }
        _ => None,
    }
}

/// Integers of Rust say how long they are by their format, and not all by their bounds.
fn of_integer(format: &str, value: &Value) -> Option<Mismatch> {
    let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))?;
    let (least, most) = match format {
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
    Some(Mismatch::here(expected, value))
}
