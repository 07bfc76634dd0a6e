//! What the compiler says about a condition that no value can ever meet.

use crate::known::{Field, Json};
use crate::text::Text;

/// A part of a condition's pattern.
pub struct Part {
    /// The step that has the condition.
    pub step: &'static str,
    /// Whose JSON is tested, in words.
    pub owner: &'static str,
    /// Where this part is looked for: the way to it, and the same in words.
    pub path: (&'static [Place], &'static str),
    /// What is looked for.
    pub wanted: Wanted,
}

/// Where to go from a value.
pub enum Place {
    /// To the field of this name.
    Field(&'static str),
    /// To any element.
    Element,
}

/// The kind of value that a part of a pattern is.
#[derive(Clone, Copy)]
pub enum Wanted {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Part {
    /// Why this part of the pattern is in no value that is stored as `json`. Nothing if it may be
    /// in one, or if something around it is wrong already.
    pub const fn never(&self, json: &Json) -> Option<Text> {
        let mut json = json;
        let mut path = self.path.0;
        while let [place, rest @ ..] = path {
            json = match (value(json), place) {
                (Json::Array(element), Place::Element) => element,
                (Json::Map(value), Place::Field(_)) => value,
                (Json::Object(fields), Place::Field(name)) => match (find(fields, name), rest) {
                    (Some(json), _) => json,
                    (None, []) => return Some(self.unknown(fields)),
                    (None, _) => return None,
                },
                _ => return None,
            };
            path = rest;
        }
        match stored(json, self.wanted) {
            Some(kind) => Some(self.other(kind)),
            None => None,
        }
    }

    const fn unknown(&self, fields: &[Field]) -> Text {
        let text = Text::EMPTY.with("the condition of step `").with(self.step).with("` names `");
        let text = text.with(self.path.1).with("`, which is not a field of ").with(self.owner);
        list(text, fields)
    }

    const fn other(&self, kind: &str) -> Text {
        let text = Text::EMPTY.with("the condition of step `").with(self.step).with("` compares ");
        let text = match self.path.0 {
            [] => text.with(self.owner),
            _ => text.with("`").with(self.path.1).with("` of ").with(self.owner),
        };
        let wanted = match self.wanted {
            Wanted::Null => "`null`",
            Wanted::Boolean => "a boolean",
            Wanted::Number => "a number",
            Wanted::Text => "a text",
            Wanted::Array => "an array",
            Wanted::Object => "an object",
        };
        let text = text.with(" with ").with(wanted).with(", but it is ").with(kind);
        match (self.path.0, self.wanted, is_same(kind, "an array")) {
            ([_, ..], Wanted::Object, true) => text.with(": write `[{ … }]`"),
            _ => text,
        }
    }
}

/// What is stored if it is not `null`.
const fn value(json: &Json) -> &Json {
    match json {
        Json::Optional(json) => value(json),
        json => json,
    }
}

/// What is stored, if it is never what is wanted.
const fn stored(json: &Json, wanted: Wanted) -> Option<&'static str> {
    match (json, wanted) {
        (Json::Unknown, _)
        | (Json::Null | Json::Optional(_), Wanted::Null)
        | (Json::Boolean, Wanted::Boolean)
        | (Json::Number, Wanted::Number)
        | (Json::Text, Wanted::Text)
        | (Json::Array(_), Wanted::Array)
        | (Json::Map(_) | Json::Object(_), Wanted::Object) => None,
        (Json::Optional(json), wanted) => stored(json, wanted),
        (Json::Null, _) => Some("`null`"),
        (Json::Boolean, _) => Some("a boolean"),
        (Json::Number, _) => Some("a number"),
        (Json::Text, _) => Some("a text"),
        (Json::Array(_), _) => Some("an array"),
        (Json::Map(_) | Json::Object(_), _) => Some("an object"),
    }
}

const fn find(fields: &[Field], name: &str) -> Option<&'static Json> {
    let mut at = 0;
    while at < fields.len() {
        if is_same(fields[at].name, name) {
            return Some(fields[at].json);
        }
        at += 1;
    }
    None
}

const fn list(mut text: Text, fields: &[Field]) -> Text {
    let first = if fields.len() == 1 { "; there is only `" } else { "; there are `" };
    let mut at = 0;
    while at < fields.len() {
        let before = if at == 0 { first } else { ", `" };
        text = text.with(before).with(fields[at].name).with("`");
        at += 1;
    }
    text
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::Place::{Element, Field as To};
    use super::*;
    use crate::known::Known;

    const OWNER: &Json =
        &Json::Object(&[Field { name: "name", json: <Option<String> as Known>::JSON }]);
    const SITE: &Json = &Json::Object(&[
        Field { name: "urls", json: <Vec<String> as Known>::JSON },
        Field { name: "owner", json: &Json::Optional(OWNER) },
        Field { name: "friends", json: &Json::Array(OWNER) },
        Field { name: "more", json: &Json::Unknown },
    ]);

    fn said(path: &'static [Place], wanted: Wanted) -> Option<String> {
        let part = Part { step: "s", owner: "the input", path: (path, "it"), wanted };
        part.never(SITE).map(|text| text.as_str().to_owned())
    }

    #[test]
    fn looks_for_fields_as_deep_as_types_are_known() {
        assert_eq!(said(&[To("more"), To("any"), Element], Wanted::Null), None);
        assert_eq!(said(&[To("owner"), To("name")], Wanted::Text), None);
        assert_eq!(said(&[To("friends"), Element, To("name")], Wanted::Text), None);
        let wrong = "the condition of step `s` names `it`, which is not a field of the input";
        let name = Some(format!("{wrong}; there is only `name`"));
        assert_eq!(said(&[To("owner"), To("nam")], Wanted::Text), name);
        assert_eq!(said(&[To("friends"), Element, To("nam")], Wanted::Text), name);
        let all = Some(format!("{wrong}; there are `urls`, `owner`, `friends`, `more`"));
        assert_eq!(said(&[To("url")], Wanted::Text), all);
    }

    #[test]
    fn compares_kinds() {
        assert_eq!(said(&[], Wanted::Object), None);
        assert_eq!(said(&[To("owner")], Wanted::Null), None);
        assert_eq!(said(&[To("owner"), To("name")], Wanted::Null), None);
        for (path, wanted, kinds) in [
            (&[To("urls")][..], Wanted::Object, "an object, but it is an array"),
            (&[To("urls")], Wanted::Text, "a text, but it is an array"),
            (&[To("urls"), Element], Wanted::Number, "a number, but it is a text"),
            (&[To("urls"), Element], Wanted::Null, "`null`, but it is a text"),
            (&[To("owner")], Wanted::Boolean, "a boolean, but it is an object"),
        ] {
            let said = said(path, wanted).expect("it never matches");
            let start = "the condition of step `s` compares `it` of the input with ";
            assert!(said.starts_with(&format!("{start}{kinds}")), "{said}");
        }
    }

    #[test]
    fn says_it_once_for_all_that_is_inside() {
        assert_eq!(said(&[To("ownr"), To("name")], Wanted::Text), None);
        assert_eq!(said(&[To("urls"), To("name")], Wanted::Text), None);
    }
}
