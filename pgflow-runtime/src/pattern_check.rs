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
        let (StepKind::Single, Value::Object(fields)) = (dep.kind, wanted) else { return None };
        let schema = output_schema(dep)?.to_value();
        missing(fields, &schema, &schema).map(|path| format!("{slug}.{path}"))
    })
}

/// The path of the first of `fields` that no value of this schema has.
fn missing(fields: &Map<String, Value>, schema: &Value, root: &Value) -> Option<String> {
    let properties = closed_properties(schema, root)?;
    fields.iter().find_map(|(key, wanted)| match (properties.get(key), wanted) {
        (None, _) => Some(key.clone()),
        (Some(schema), Value::Object(fields)) => {
            missing(fields, schema, root).map(|path| format!("{key}.{path}"))
        }
        (Some(_), _) => None,
    })
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

    fn missing_in(schema: &Value, pattern: Value) -> Option<String> {
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
        assert_eq!(missing_in(&schema, json!({ "plan": "pro" })), None);
        assert_eq!(missing_in(&schema, json!({ "owner": { "name": "Ann" } })), None);
        assert_eq!(missing_in(&schema, json!({ "plans": 1 })), Some("plans".to_owned()));
        assert_eq!(
            missing_in(&schema, json!({ "owner": { "nam": 1 } })),
            Some("owner.nam".to_owned())
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
            assert_eq!(missing_in(&schema, json!({ "any": 1 })), None, "{schema}");
        }
    }
}
