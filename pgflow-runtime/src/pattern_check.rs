//! Conditions compared with the JSON Schemas of what they test.

use pgflow_model::{Pattern, StepKind};
use serde_json::{Map, Value};

use crate::schema::{input_schema, output_schema};
use crate::{FlowDef, RegisterError, StepDef};

/// Finds a field that a condition names and no value has.
///
/// The compiler finds it sooner in types made with `#[data]`; here it is found in all that have a
/// schema. Whatever a schema leaves open is taken to be right.
pub(crate) fn check(flow: &FlowDef) -> Result<(), RegisterError> {
    for step in flow.steps {
        for (option, text) in [("only_if", step.only_if), ("unless", step.unless)] {
            let Some(pattern) = text.and_then(|text| text.parse::<Pattern>().ok()) else {
                continue;
            };
            if let Some(path) = unknown_field(flow, step, pattern.fields()) {
                let (flow, step) = (flow.slug, step.slug);
                return Err(RegisterError::UnknownField { flow, step, option, path });
            }
        }
    }
    Ok(())
}

fn unknown_field(flow: &FlowDef, step: &StepDef, fields: &Map<String, Value>) -> Option<String> {
    if step.depends_on.is_empty() {
        let schema = input_schema(flow)?.to_value();
        return missing(fields, &schema, &schema);
    }
    fields.iter().find_map(|(slug, wanted)| {
        let dep = flow.step(slug)?;
        let schema = output_schema(dep)?.to_value();
        let path = match (dep.kind, wanted) {
            (StepKind::Single, wanted) => missing_in(wanted, &schema, &schema),
            (StepKind::Map, Value::Array(items)) => missing_in_items(items, &schema, &schema),
            (StepKind::Map, _) => None,
        };
        path.map(|path| format!("{slug}{path}"))
    })
}

/// The path of the first of `fields` that no value of this schema has.
fn missing(fields: &Map<String, Value>, schema: &Value, root: &Value) -> Option<String> {
    let properties = closed_properties(schema, root)?;
    fields.iter().find_map(|(key, wanted)| match properties.get(key) {
        None => Some(key.clone()),
        Some(schema) => missing_in(wanted, schema, root).map(|path| format!("{key}{path}")),
    })
}

/// The same for fields anywhere in `wanted`: a path from there.
fn missing_in(wanted: &Value, schema: &Value, root: &Value) -> Option<String> {
    let schema = not_null(schema, root)?;
    match wanted {
        Value::Object(fields) => missing(fields, schema, root).map(|path| format!(".{path}")),
        Value::Array(items) => missing_in_items(items, schema.get("items")?, root),
        _ => None,
    }
}

fn missing_in_items(items: &[Value], schema: &Value, root: &Value) -> Option<String> {
    let path = items.iter().find_map(|item| missing_in(item, schema, root));
    path.map(|path| format!("[]{path}"))
}

/// What a schema says of values that are not `null`.
fn not_null<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        return not_null(root.pointer(path.strip_prefix('#')?)?, root);
    }
    let Some(choices) = schema.get("anyOf").and_then(Value::as_array) else { return Some(schema) };
    let mut others = choices.iter().filter(|choice| choice.get("type") != Some(&"null".into()));
    match (others.next(), others.next()) {
        (Some(only), None) => not_null(only, root),
        _ => Some(schema),
    }
}

/// The properties of a schema that leaves no room for others.
fn closed_properties<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Map<String, Value>> {
    const OPEN: [&str; 6] =
        ["anyOf", "oneOf", "allOf", "patternProperties", "unevaluatedProperties", "if"];
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        return closed_properties(root.pointer(path.strip_prefix('#')?)?, root);
    }
    let is_open = OPEN.iter().any(|key| schema.get(key).is_some())
        || schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if is_open { None } else { schema.get("properties")?.as_object() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(schema: &Value, pattern: Value) -> Option<String> {
        let Value::Object(fields) = pattern else { panic!("a pattern is an object") };
        missing(&fields, schema, schema)
    }

    #[test]
    fn finds_fields_that_are_not_there() {
        let schema = json!({
            "type": "object",
            "properties": { "plan": { "type": "string" }, "owner": { "$ref": "#/$defs/Owner" } },
            "$defs": { "Owner": { "properties": { "name": {} } } },
        });
        assert_eq!(said(&schema, json!({ "plan": "pro" })), None);
        assert_eq!(said(&schema, json!({ "owner": { "name": "Ann" } })), None);
        assert_eq!(said(&schema, json!({ "plans": 1 })), Some("plans".to_owned()));
        assert_eq!(said(&schema, json!({ "owner": { "nam": 1 } })), Some("owner.nam".to_owned()));
    }

    #[test]
    fn looks_behind_options_and_into_arrays() {
        let owner = json!({ "properties": { "name": {} } });
        let schema = json!({
            "properties": {
                "owner": { "anyOf": [{ "$ref": "#/$defs/Owner" }, { "type": "null" }] },
                "friends": { "type": "array", "items": { "$ref": "#/$defs/Owner" } },
            },
            "$defs": { "Owner": owner },
        });
        assert_eq!(said(&schema, json!({ "owner": { "name": 1 } })), None);
        assert_eq!(said(&schema, json!({ "friends": [{ "name": 1 }] })), None);
        assert_eq!(said(&schema, json!({ "owner": { "nam": 1 } })), Some("owner.nam".to_owned()));
        assert_eq!(
            said(&schema, json!({ "friends": [{}, { "nam": 1 }] })),
            Some("friends[].nam".to_owned())
        );
    }

    #[test]
    fn says_nothing_where_a_schema_is_open() {
        for schema in [
            json!(true),
            json!({ "type": "object" }),
            json!({ "properties": {}, "additionalProperties": true }),
            json!({ "properties": {}, "additionalProperties": { "type": "string" } }),
            json!({ "properties": {}, "oneOf": [] }),
            json!({ "anyOf": [{ "properties": {} }, { "type": "null" }] }),
        ] {
            assert_eq!(said(&schema, json!({ "any": 1 })), None, "{schema}");
        }
    }
}
