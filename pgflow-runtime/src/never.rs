//! What the compiler says about a condition that no value can ever meet.

use crate::known::{Field, Json};
use crate::text::Text;

/// A part of a condition's pattern.
struct ConditionPart {
    /// The step that has the condition.
    step: &'static str,
    /// Whose JSON is tested, in words.
    owner: &'static str,
    /// Where this part is looked for: the way to it, and the same in words.
    path: (&'static [PathSegment], &'static str),
    /// What is looked for.
    wanted: Wanted,
}

/// Where to go from a value.
pub enum PathSegment {
    /// To the field of this name.
    Field(&'static str),
    /// To any element.
    Element,
}

/// What a part of a pattern asks for.
pub enum Wanted {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// This whole number.
    Integer(i128),
    /// Another number.
    Fraction,
    /// This text.
    Text(&'static str),
    /// An array.
    Array,
    /// An object.
    Object,
}

/// What can be said about a part of a pattern. The later, the better it is to say that.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Verdict {
    /// Nothing: something around it is wrong already.
    Silence,
    /// What is there is something else.
    Other,
    /// There is no such field.
    NoField,
    /// It may be there.
    Possible,
}

/// Panics, where it is called, if a part of the pattern of a `step`'s condition is in no value of its `owner`, which is
/// stored as `json`. `words` say the path.
///
/// # Panics
/// If no value can have it: where the compiler evaluates this, that is its error.
#[track_caller]
pub const fn check_condition(
    step: &'static str,
    owner: &'static str,
    path: &'static [PathSegment],
    words: &'static str,
    wanted: Wanted,
    json: &'static Json,
) {
    let part = ConditionPart { step, owner, path: (path, words), wanted };
    if let Some(why) = part.never(json) {
        panic!("{}", why.as_str());
    }
}

impl ConditionPart {
    /// Why this part of the pattern is in no value that is stored as `json`. Nothing if it may be
    /// in one, or if something around it is wrong already.
    const fn never(&self, json: &'static Json) -> Option<Text> {
        match self.verdict(json, self.path.0) {
            Verdict::Possible | Verdict::Silence => None,
            Verdict::NoField => Some(self.unknown(json)),
            Verdict::Other => Some(self.other(json)),
        }
    }

    const fn verdict(&self, json: &'static Json, path: &[PathSegment]) -> Verdict {
        match (json, path) {
            (Json::Unknown | Json::Refused(_), _) => Verdict::Possible,
            (Json::OneOf(all), _) => self.any(all, path),
            (Json::Optional(_), []) if matches!(self.wanted, Wanted::Null) => Verdict::Possible,
            (Json::Optional(json), _) => self.verdict(json, path),
            (json, []) if is_possible(json, &self.wanted) => Verdict::Possible,
            (_, []) => Verdict::Other,
            (Json::Array(element), [PathSegment::Element, rest @ ..]) => {
                self.verdict(element, rest)
            }
            (Json::Tuple(all), [PathSegment::Element, rest @ ..]) => self.any(all, rest),
            (Json::Map(value), [PathSegment::Field(_), rest @ ..]) => self.verdict(value, rest),
            (Json::Object(fields), [PathSegment::Field(name), rest @ ..]) => {
                match (find(fields, name), rest) {
                    (Some(json), _) => self.verdict(json, rest),
                    (None, []) => Verdict::NoField,
                    (None, _) => Verdict::Silence,
                }
            }
            _ => Verdict::Silence,
        }
    }

    /// The best that can be said of several.
    const fn any(&self, all: &[&'static Json], path: &[PathSegment]) -> Verdict {
        let (mut best, mut at) = (Verdict::Silence, 0);
        while at < all.len() {
            let verdict = self.verdict(all[at], path);
            if verdict as u8 > best as u8 {
                best = verdict;
            }
            at += 1;
        }
        best
    }

    const fn unknown(&self, json: &'static Json) -> Text {
        let text = Text::EMPTY.with("the condition of step `").with(self.step).with("` names `");
        let text = text.with(self.path.1).with("`, which is not a field of ").with(self.owner);
        let [before @ .., _] = self.path.0 else { return text };
        text.fields(reach(json, before))
    }

    const fn other(&self, json: &'static Json) -> Text {
        let text = Text::EMPTY.with("the condition of step `").with(self.step).with("` compares ");
        let text = match self.path.0 {
            [] => text.with(self.owner),
            _ => text.with("`").with(self.path.1).with("` of ").with(self.owner),
        };
        let json = reach(json, self.path.0);
        let text = text.with(" with ").wanted(&self.wanted, json);
        let text = text.with(", but it is ").kind(json, &self.wanted);
        match (self.path.0, &self.wanted, json) {
            ([_, ..], Wanted::Object, Json::Array(_)) => text.with(": write `[{ … }]`"),
            _ => text,
        }
    }
}

/// What is at the end of a path, as far as that is one thing.
const fn reach(json: &'static Json, path: &[PathSegment]) -> &'static Json {
    match (json, path) {
        (Json::Optional(json), _) => reach(json, path),
        (Json::Array(element), [PathSegment::Element, rest @ ..]) => reach(element, rest),
        (Json::Tuple(all), [PathSegment::Element, rest @ ..]) => reach(all[0], rest),
        (Json::Map(value), [PathSegment::Field(_), rest @ ..]) => reach(value, rest),
        (Json::Object(fields), [PathSegment::Field(name), rest @ ..]) => match find(fields, name) {
            Some(json) => reach(json, rest),
            None => json,
        },
        (Json::OneOf(all), [PathSegment::Field(name), ..]) => {
            let mut at = 0;
            while at < all.len() {
                if let Json::Object(fields) = all[at]
                    && find(fields, name).is_some()
                {
                    return reach(all[at], path);
                }
                at += 1;
            }
            json
        }
        _ => json,
    }
}

/// Whether something that is stored as `json`, and is not one of several, can be what is wanted.
const fn is_possible(json: &Json, wanted: &Wanted) -> bool {
    match (json, wanted) {
        (Json::Null, Wanted::Null)
        | (Json::Boolean, Wanted::Boolean)
        | (Json::Number, Wanted::Integer(_) | Wanted::Fraction)
        | (Json::Text, Wanted::Text(_))
        | (Json::Array(_) | Json::Tuple(_), Wanted::Array)
        | (Json::Map(_) | Json::Object(_), Wanted::Object) => true,
        (Json::Integer(least, most), Wanted::Integer(number)) => {
            *least <= *number && *number <= *most
        }
        (Json::Word(word), Wanted::Text(text)) => is_same(word, text),
        (Json::Character, Wanted::Text(text)) => is_one_character(text),
        _ => false,
    }
}

const fn is_one_character(text: &str) -> bool {
    let (bytes, mut at, mut starts) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        // The other bytes of a character look like this in UTF-8.
        starts += if bytes[at] & 0xC0 == 0x80 { 0 } else { 1 };
        at += 1;
    }
    starts == 1
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
    use super::PathSegment::{Element, Field as To};
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

    fn said(path: &'static [PathSegment], wanted: Wanted) -> Option<String> {
        let part = ConditionPart { step: "s", owner: "the input", path: (path, "it"), wanted };
        part.never(SITE).map(|text| text.as_str().to_owned())
    }

    #[test]
    fn looks_for_fields_as_deep_as_types_are_known() {
        assert_eq!(said(&[To("more"), To("any"), Element], Wanted::Null), None);
        assert_eq!(said(&[To("owner"), To("name")], Wanted::Text("x")), None);
        assert_eq!(said(&[To("friends"), Element, To("name")], Wanted::Text("x")), None);
        let wrong = "the condition of step `s` names `it`, which is not a field of the input";
        let name = Some(format!("{wrong}; there is only `name`"));
        assert_eq!(said(&[To("owner"), To("nam")], Wanted::Text("x")), name);
        assert_eq!(said(&[To("friends"), Element, To("nam")], Wanted::Text("x")), name);
        let all = Some(format!("{wrong}; there are `urls`, `owner`, `friends`, `more`"));
        assert_eq!(said(&[To("url")], Wanted::Text("x")), all);
    }

    #[test]
    fn compares_kinds() {
        assert_eq!(said(&[], Wanted::Object), None);
        assert_eq!(said(&[To("owner")], Wanted::Null), None);
        assert_eq!(said(&[To("owner"), To("name")], Wanted::Null), None);
        for (path, wanted, kinds) in [
            (&[To("urls")][..], Wanted::Object, "an object, but it is an array"),
            (&[To("urls")], Wanted::Text("x"), "a text, but it is an array"),
            (&[To("urls"), Element], Wanted::Integer(1), "a number, but it is a text"),
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
        assert_eq!(said(&[To("ownr"), To("name")], Wanted::Text("x")), None);
        assert_eq!(said(&[To("urls"), To("name")], Wanted::Text("x")), None);
    }
}
