#![expect(clippy::needless_pass_by_value, reason = "`json!(…)` in place reads better")]

use serde_json::{Value, json};

use super::schema_changes;

fn object(fields: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": fields, "required": required })
}

/// Before, now, and the findings.
fn check(before: Value, now: Value, expected: &[&str]) {
    let found: Vec<_> = schema_changes(&before, &now).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "\n{before}\n{now}");
}

#[test]
fn fields() {
    let (text, number) =
        (json!({ "type": "string" }), json!({ "type": "integer", "format": "int32" }));
    let a = || object(json!({ "a": text }), &["a"]);
    check(a(), a(), &[]);
    let both = json!({ "a": text, "b": number });
    check(a(), object(both.clone(), &["a"]), &["$.b: field was added with a default (readable)"]);
    check(
        a(),
        object(both.clone(), &["a", "b"]),
        &["$.b: field was added without a default (NOT readable)"],
    );
    check(object(both.clone(), &["a", "b"]), a(), &["$.b: field was removed (readable)"]);
    let mut strict = a();
    strict["additionalProperties"] = json!(false);
    check(
        object(both, &["a", "b"]),
        strict,
        &["$.b: field was removed, and unknown fields are refused (NOT readable)"],
    );
    check(
        a(),
        object(json!({ "a": number }), &["a"]),
        &["$.a: type was string, now integer (NOT readable)"],
    );
    check(
        object(json!({ "a": text }), &[]),
        a(),
        &["$.a: field could be missing, now it is required (NOT readable)"],
    );
    check(a(), object(json!({ "a": text }), &[]), &["$.a: field can now be missing (readable)"]);
}

#[test]
fn a_field_under_another_name_would_be_lost_without_a_word() {
    let named = |name: &str, schema: Value| object(json!({ name: schema }), &[]);
    let (text, maybe) = (json!({ "type": "string" }), json!({ "type": ["string", "null"] }));
    check(
        named("price", text.clone()),
        named("cost", maybe.clone()),
        &[
            "$.price: field was removed (readable)",
            "$.cost: field was added with a default while `price` is gone: if that was renamed, its values are lost (NOT readable)",
        ],
    );
    let other = json!({ "type": "integer", "format": "int32" });
    check(
        named("price", text),
        named("urgent", other),
        &[
            "$.price: field was removed (readable)",
            "$.urgent: field was added with a default (readable)",
        ],
    );
}

#[test]
fn types_and_ranges() {
    let int = |format: &str| json!({ "type": "integer", "format": format });
    check(
        int("int32"),
        int("int64"),
        &["$: its range is wider: -9223372036854775808 to 9223372036854775807 (readable)"],
    );
    check(int("int64"), int("uint8"), &["$: its range is smaller: 0 to 255 (NOT readable)"]);
    check(
        int("int32"),
        json!({ "type": "number" }),
        &["$: type was integer, now number (readable)"],
    );
    check(
        json!({ "type": "string" }),
        json!({ "type": ["string", "null"] }),
        &["$: type was string, now null or string (readable)"],
    );
    check(
        json!({ "type": ["string", "null"] }),
        json!({ "type": "string" }),
        &["$: type was null or string, now string (NOT readable)"],
    );
    check(
        json!({ "type": "string" }),
        json!({ "type": "string", "format": "uuid" }),
        &["$: form was any text, now uuid (NOT readable)"],
    );
    check(json!({ "type": "string" }), json!(true), &["$: can now be anything (readable)"]);
}

#[test]
fn arrays_and_maps() {
    let list = |items: Value| json!({ "type": "array", "items": items });
    check(
        list(json!({ "type": "string" })),
        list(json!({ "type": "boolean" })),
        &["$[]: type was string, now boolean (NOT readable)"],
    );
    let map = |values: Value| json!({ "type": "object", "additionalProperties": values });
    check(
        map(json!({ "type": "string" })),
        map(json!({ "type": "boolean" })),
        &["$.*: type was string, now boolean (NOT readable)"],
    );
    let tuple =
        |n: usize| json!({ "type": "array", "prefixItems": vec![json!({ "type": "string" }); n] });
    check(tuple(2), tuple(3), &["$: had 2 elements, now 3 (NOT readable)"]);
}

#[test]
fn enums() {
    let of = |values: &[&str]| json!({ "type": "string", "enum": values });
    check(of(&["a", "b"]), of(&["a"]), &["$: variant \"b\" was removed (NOT readable)"]);
    check(of(&["a"]), of(&["a", "b"]), &["$: variant \"b\" was added (readable)"]);
    check(of(&["a"]), json!({ "type": "string" }), &[]);
    check(
        json!({ "type": "string" }),
        of(&["a"]),
        &[
            "$: variant of another form was removed (NOT readable)",
            "$: variant \"a\" was added (readable)",
        ],
    );
    let variant = |name: &str, data: Value| object(json!({ name: data }), &[name]);
    let (text, flag) = (json!({ "type": "string" }), json!({ "type": "boolean" }));
    let one = |variants: Vec<Value>| json!({ "oneOf": variants });
    let before = one(vec![variant("A", text.clone()), variant("B", flag.clone())]);
    check(
        before.clone(),
        one(vec![variant("A", text.clone())]),
        &["$: variant \"B\" was removed (NOT readable)"],
    );
    check(
        before.clone(),
        one(vec![variant("A", flag.clone()), variant("B", flag.clone())]),
        &["$.A: type was string, now boolean (NOT readable)"],
    );
    let more = one(vec![variant("A", text.clone()), variant("B", flag), variant("C", text)]);
    check(before, more, &["$: a variant was added (readable)"]);
}

#[test]
fn references_are_followed_even_in_circles() {
    let tree = |data: &str| {
        json!({
            "$ref": "#/$defs/Tree",
            "$defs": { "Tree": object(json!({
                "data": { "type": data },
                "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
            }), &["data"]) },
        })
    };
    check(tree("string"), tree("string"), &[]);
    check(
        tree("string"),
        tree("boolean"),
        &["$.data: type was string, now boolean (NOT readable)"],
    );
}
