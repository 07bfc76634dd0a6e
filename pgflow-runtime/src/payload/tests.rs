use std::collections::BTreeMap;

use pgflow_machine::PayloadError;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::to_value;

#[derive(Serialize, Deserialize, Debug, PartialEq)]
enum Shape {
    Unit,
    One(f64),
    Two(i64, f64),
    Named { x: f64 },
}

#[derive(Serialize)]
struct Line {
    shape: Shape,
    price: Option<f32>,
}

fn path_of(error: &PayloadError) -> &str {
    match error {
        PayloadError::NotFinite { path, .. }
        | PayloadError::TooBig { path, .. }
        | PayloadError::TooDeep { path, .. }
        | PayloadError::NotJson { path, .. } => path,
        other => panic!("it is about no place: {other}"),
    }
}

fn failure<T: Serialize>(value: &T) -> PayloadError {
    to_value(value).expect_err("it has no form in JSON")
}

#[test]
fn writes_what_serde_json_writes() {
    let shapes = vec![Shape::Unit, Shape::One(1.5), Shape::Two(-1, 2.0), Shape::Named { x: 0.1 }];
    let map = BTreeMap::from([(1, "a"), (2, "b")]);
    let value =
        (shapes, map, 'c', Some(()), None::<u8>, [1_u8, 2], "text", true, json!({"a": [1]}));
    assert_eq!(to_value(&value).expect("fine"), serde_json::to_value(&value).expect("fine"));
}

#[test]
fn keeps_64_bits_exactly() {
    let numbers = (u64::MAX, i64::MIN, u128::from(u64::MAX), i128::from(i64::MIN));
    let written = to_value(&numbers).expect("they fit").to_string();
    assert_eq!(
        written,
        "[18446744073709551615,-9223372036854775808,18446744073709551615,-9223372036854775808]"
    );
}

#[test]
fn refuses_what_does_not_fit_64_bits() {
    let error = failure(&[0, u128::from(u64::MAX) + 1]);
    let number = "18446744073709551616".to_owned();
    assert_eq!(error, PayloadError::TooBig { path: "$[1]".into(), number });
    assert!(matches!(failure(&i128::MIN), PayloadError::TooBig { .. }));
}

#[test]
fn says_where_a_number_is_not_finite() {
    let line = |shape, price| BTreeMap::from([("a line", vec![Line { shape, price }])]);
    let cases = [
        (line(Shape::Unit, Some(f32::NAN)), r#"$["a line"][0].price"#, "NaN"),
        (line(Shape::One(f64::INFINITY), None), r#"$["a line"][0].shape.One"#, "inf"),
        (line(Shape::Two(1, f64::NEG_INFINITY), None), r#"$["a line"][0].shape.Two[1]"#, "-inf"),
        (line(Shape::Named { x: f64::NAN }, None), r#"$["a line"][0].shape.Named.x"#, "NaN"),
    ];
    for (value, path, number) in cases {
        let expected = PayloadError::NotFinite { path: path.into(), number: number.into() };
        assert_eq!(failure(&value), expected);
    }
}

#[test]
fn has_no_negative_zero() {
    assert_eq!(to_value(&-0.0_f64).expect("a number").to_string(), "0.0");
}

#[test]
fn stops_before_the_stack_does() {
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([Endless])
        }
    }
    let error = failure(&Endless);
    assert!(matches!(error, PayloadError::TooDeep { limit: 127, .. }), "{error}");
}

#[test]
fn what_is_just_deep_enough_can_be_read_back() {
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
    let deepest = to_value(&nested(127)).expect("not too deep");
    assert_eq!(serde_json::from_str::<Value>(&deepest.to_string()).expect("readable"), deepest);
    assert!(to_value(&nested(128)).is_err());
}

#[test]
fn says_where_a_type_gave_up() {
    struct Moody;
    impl Serialize for Moody {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not today"))
        }
    }
    let error = failure(&vec![Moody]);
    assert_eq!(path_of(&error), "$[0]");
    assert!(error.to_string().ends_with("not today"));
    assert!(matches!(failure(&BTreeMap::from([([1_u8], 2)])), PayloadError::NotJson { .. }));
}
