//! JSON Schema, as far as it is looked at.

use crate::harness::{Db, lit};

#[tokio::test]
async fn the_first_place_that_does_not_fit_is_said() {
    let db = Db::new().await;
    for (schema, value, expected) in [
        ("true", "1", None),
        ("{}", "1", None),
        ("false", "1", Some("|nothing|number")),
        (r#"{"type": "integer"}"#, "1", None),
        (r#"{"type": "integer"}"#, "1.0", Some("|integer|number")),
        (r#"{"format": "int32"}"#, "2147483648", Some("|at most 2147483647|number")),
        (r#"{"format": "int8"}"#, "-129", Some("|at least -128|number")),
        (r#"{"format": "uint64"}"#, "18446744073709551615", None),
        (
            r#"{"format": "int64"}"#,
            "18446744073709551615",
            Some("|at most 9223372036854775807|number"),
        ),
        (
            r#"{"properties": {"a": {"type": "string"}, "tag": {"const": "x"}}}"#,
            r#"{"a": 1, "tag": "y"}"#,
            Some("/tag|\"x\"|string"),
        ),
        (r#"{"type": "integer"}"#, "1.5", Some("|integer|number")),
        (r#"{"type": ["integer", "null"]}"#, "\"x\"", Some("|integer or null|string")),
        (r#"{"required": ["a", "b"]}"#, r#"{"a": 1}"#, Some("/b|a value|nothing")),
        (
            r#"{"properties": {"a": {"type": "string"}}}"#,
            r#"{"b": 1, "a": 1}"#,
            Some("/a|string|number"),
        ),
        (
            r#"{"properties": {"a": true}, "additionalProperties": false}"#,
            r#"{"b": 1}"#,
            Some("/b|nothing|number"),
        ),
        (
            r#"{"items": {"enum": ["a", "b"]}}"#,
            r#"["a", "c"]"#,
            Some("/1|one of the values listed|string"),
        ),
        (
            r#"{"prefixItems": [{"const": 1}], "items": {"type": "null"}}"#,
            "[1, 2]",
            Some("/1|null|number"),
        ),
        (r#"{"minItems": 2}"#, "[1]", Some("|at least 2 elements|1")),
        (r#"{"maxItems": 2}"#, "[1, 2, 3]", Some("|at most 2 elements|3")),
        (r#"{"minimum": 3}"#, "2", Some("|at least 3|number")),
        (r#"{"maximum": 3}"#, "4", Some("|at most 3|number")),
        (r#"{"minimum": 3}"#, "\"2\"", None),
        (r#"{"const": "x"}"#, "\"y\"", Some("|\"x\"|string")),
        (
            r#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#,
            "1",
            Some("|one of the alternatives|number"),
        ),
        (
            r#"{"anyOf": [{"type": "string"}, {"properties": {"a/b": {"type": "null"}}}]}"#,
            r#"{"a/b": 1}"#,
            Some("/a~1b|null|number"),
        ),
        (r#"{"oneOf": [{"type": "string"}, {"type": "number"}]}"#, "1", None),
        (r#"{"allOf": [{"type": "number"}, {"maximum": 5}]}"#, "9", Some("|at most 5|number")),
        (r##"{"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}"##, "1", Some("|null|number")),
        (r##"{"$ref": "#/$defs/none"}"##, "1", None),
        (r##"{"$ref": "#"}"##, "1", None),
    ] {
        let call = format!(
            "select path, expected, got from pgflow._mismatch({}, {})",
            lit(schema),
            lit(value)
        );
        let expected = expected.unwrap_or("NULL|NULL|NULL");
        assert_eq!(db.one(&call).await, expected, "{schema} and {value}");
    }
}
