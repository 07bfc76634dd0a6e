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
        (r#"{"not": {"const": 0}}"#, "0", Some("|something else|number")),
        (r#"{"not": {"const": 0}}"#, "1", None),
        (r#"{"anyOf": []}"#, "1", Some("|one of the alternatives|number")),
        (r#"{"minLength": 2}"#, "\"ä\"", Some("|at least 2 characters|string")),
        (r#"{"maxLength": 1}"#, "\"äö\"", Some("|at most 1 characters|string")),
        (r#"{"maxLength": 1}"#, "\"ä\"", None),
        (BY_NUMBER, r#"{"12": 1}"#, None),
        (BY_NUMBER, r#"{"-12": 1}"#, Some("/-12|nothing|number")),
        (BY_NUMBER, r#"{"12": null}"#, Some("/12|integer|null")),
        (
            r#"{"patternProperties": {"^v": false}, "additionalProperties": false}"#,
            r#"{"x": 1}"#,
            None,
        ),
        (TAGGED, r#"{"kind": "no", "x": 1}"#, Some("/x|string|number")),
        (TAGGED, r#"{"kind": "ja", "x": "1"}"#, Some("/kind|\"yes\"|string")),
    ] {
        expect(&db, schema, value, expected).await;
    }
}

/// Keys have one spelling, and of alternatives the one that is meant is said.
#[tokio::test]
async fn keys_and_alternatives_are_those_of_the_machine() {
    let db = Db::new().await;
    for (schema, value, expected) in [
        (BY_NUMBER, r#"{"007": 1}"#, Some("/007|nothing|number")),
        (BY_NUMBER, r#"{"340282366920938463463374607431768211455": 1}"#, None),
        (
            BY_NUMBER,
            r#"{"340282366920938463463374607431768211456": 1}"#,
            Some("/340282366920938463463374607431768211456|nothing|number"),
        ),
        (BY_INTEGER, r#"{"-12": 1, "0": 1}"#, None),
        (BY_INTEGER, r#"{"-0": 1}"#, Some("/-0|nothing|number")),
        (BY_INTEGER, r#"{"-170141183460469231731687303715884105728": 1}"#, None),
        (
            BY_INTEGER,
            r#"{"170141183460469231731687303715884105728": 1}"#,
            Some("/170141183460469231731687303715884105728|nothing|number"),
        ),
        (BY_TAG, r#"{"t": "B", "y": 1}"#, Some("/y|string or null|number")),
        (BY_TAG, r#"{"t": "A"}"#, Some("/long|a value|nothing")),
        (BY_TAG, r#"{"t": "C"}"#, Some("/t|\"A\"|string")),
        (BY_TAG, r#"{"long": 1}"#, Some("/t|a value|nothing")),
        (OUTCOME, r#"{"ok": "x"}"#, Some("/ok|integer|string")),
        (OUTCOME, r#"{"error": "x"}"#, Some("/error|object|string")),
        (OUTCOME, "{}", Some("/error|a value|nothing")),
    ] {
        expect(&db, schema, value, expected).await;
    }
}

async fn expect(db: &Db, schema: &str, value: &str, expected: Option<&str>) {
    let expected = expected.unwrap_or("NULL|NULL|NULL");
    assert_eq!(found(db, schema, value).await, expected, "{schema} and {value}");
    assert_eq!(of_machine(schema, value), expected, "the machine, of {schema} and {value}");
}

const BY_NUMBER: &str =
    r#"{"patternProperties": {"^\\d+$": {"type": "integer"}}, "additionalProperties": false}"#;
const BY_INTEGER: &str =
    r#"{"patternProperties": {"^-?\\d+$": {"type": "integer"}}, "additionalProperties": false}"#;
const BY_TAG: &str = r#"{"oneOf": [
    {"properties": {"t": {"const": "A"}, "long": {"type": "integer"}}, "required": ["long", "t"]},
    {"properties": {"t": {"const": "B"}, "y": {"type": ["string", "null"]}}, "required": ["t"]}]}"#;
const OUTCOME: &str = r#"{"oneOf": [
    {"properties": {"ok": {"type": "integer"}}, "required": ["ok"]},
    {"properties": {"error": {"type": "object"}}, "required": ["error"]}]}"#;
const TAGGED: &str = r#"{"oneOf": [
    {"properties": {"kind": {"const": "yes"}}},
    {"properties": {"kind": {"const": "no"}, "x": {"type": "string"}}}]}"#;

async fn found(db: &Db, schema: &str, value: &str) -> String {
    let (schema, value) = (lit(schema), lit(value));
    db.one(&format!("select path, expected, got from pgflow._mismatch({schema}, {value})")).await
}

/// What the other databases would say.
fn of_machine(schema: &str, value: &str) -> String {
    let json = |text| serde_json::from_str(text).expect("JSON");
    let found = pgflow_machine::wait::mismatch(&json(schema), &json(value));
    found.map_or("NULL|NULL|NULL".to_owned(), |it| {
        format!("{}|{}|{}", it.path, it.expected, it.found)
    })
}

/// Texts that are nearly what they should be: the same ones are refused as anywhere else.
#[tokio::test]
async fn formats_are_those_of_the_machine() {
    let db = Db::new().await;
    let texts = [
        "",
        "x",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "67E5504410B1426F9247BB680E5FE0C8",
        "67e55044-10b1-426f-9247-bb680e5fe0cg",
        "67e5504410b1-426f9247-bb680e5fe0c8",
        "2024-02-29",
        "2023-02-29",
        "2100-02-29",
        "2000-02-29",
        "2026-13-01",
        "2026-04-31",
        "2026-1-1",
        "0000-01-01",
        "2026-12-00",
        "00:00:00",
        "23:59:60",
        "24:00:00",
        "03:00",
        "03:00:00.",
        "03:00:00.123456789",
        "03:00:00.1234567890",
        "03:60:00",
        "2026-11-17T03:00:00",
        "2026-11-17 03:00:00",
        "2026-11-17T03:00:00Z",
        "2026-11-17t03:00:00.5z",
        "2026-11-17 03:00:00-09:30",
        "2026-11-17T03:00:00+24:00",
        "2026-11-17T03:00:00+0100",
        "2026-11-31T03:00:00Z",
        "+01:00",
        "Z",
        "2026-11-17T03:00:00+01:00[Europe/Berlin]",
        "2026-11-17T03:00:00+01:00[]",
        "2026-11-17T03:00:00Z[a[b]",
        "[UTC]",
        "127.0.0.1",
        "255.255.255.255",
        "256.0.0.1",
        "1.2.3",
        "1.2.3.4.5",
        "01.2.3.4",
        "1.2.3.",
        "::",
        "::1",
        ":1",
        "1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7::",
        "1:2:3:4:5:6:7:8::",
        "1:2:3:4:5:6:7:8:9",
        "1::2::3",
        "12345::",
        ":::",
        "fe80::1%eth0",
        "::ffff:10.0.0.1",
        "1:2:3:4:5:6:7.8.9.10",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::256.0.0.1",
        "::1.2.3",
        "1.2.3.4::",
        "äöü",
        "2026-11-17T03:00:00Zä",
    ];
    let formats = [
        "uuid",
        "date",
        "partial-time",
        "partial-date-time",
        "date-time",
        "zoned-date-time",
        "ipv4",
        "ipv6",
        "ip",
        "uri",
        "duration",
    ];
    let mut taken = 0;
    for format in formats {
        let schema = format!(r#"{{"format": "{format}"}}"#);
        for text in texts {
            let (value, machine) =
                (format!("\"{text}\""), of_machine(&schema, &format!("\"{text}\"")));
            assert_eq!(found(&db, &schema, &value).await, machine, "{format}: {text}");
            taken += u32::from(machine.starts_with("NULL"));
        }
    }
    assert!(taken > 120, "{taken} of them are right");
}

/// Each level doubles what there is to compare. Both give up after the same number of comparisons, one before that both find what is wrong.
#[tokio::test]
async fn comparisons_are_counted_like_in_the_machine() {
    let db = Db::new().await;
    let list = r#"{"items": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}"#;
    // The array, and three comparisons for each element.
    for (elements, fits) in [(6_666, true), (6_667, false)] {
        let numbers: Vec<u32> = (0..elements).collect();
        let value = serde_json::to_string(&numbers).expect("JSON");
        let machine = of_machine(list, &value);
        assert_eq!(machine.starts_with("NULL"), fits, "{machine}");
        let (schema, value) = (lit(list), lit(&value));
        let call = format!("select coalesce(path, '') from pgflow._mismatch({schema}, {value})");
        if fits {
            assert_eq!(db.one(&call).await, "");
        } else {
            assert_eq!(db.error(&call).await.code, "54001");
        }
    }
}
