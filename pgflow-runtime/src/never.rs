//! What the compiler says about a condition that no value can ever meet.

use crate::known::{Field, Json};
use crate::text::Text;

/// A part of a condition's pattern.
struct ConditionPart {
    /// The step that has the condition, and whose JSON is tested, in words.
    who: &'static str,
    /// Where this part is looked for, and what: see [`is_never`].
    part: &'static str,
}

/// What a part of a pattern asks for.
pub(crate) enum Wanted {
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

/// Where a part of a pattern leads from a value.
enum Leads {
    /// To the field of this name, and from there on.
    Field(&'static str, &'static str),
    /// To any element, and from there on.
    Element(&'static str),
    /// Nowhere: this is what is wanted.
    Here(Wanted),
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

/// Whether what a part of the pattern of a condition asks for is in no value that is stored as `json`. The place where
/// that is said is that of the value ([`refuse_value`]), and of a field that is not there, that of its name: here.
///
/// `who` is the step and, after a `\0`, whose JSON that is, in words. `part` is the way there, `.name\0` for a field and
/// `[` for any element, and what is wanted: `n`ull, `b`oolean, `i` and a whole number, `f`raction, `t` and a text, `a`rray or
/// `o`bject. Two texts are far less to compile than what they say would be as values.
///
/// # Panics
/// If there is no such field: where the compiler evaluates this, that is its error.
#[track_caller]
pub const fn is_never(who: &'static str, part: &'static str, json: &'static Json) -> bool {
    if is_plainly_possible(json, part.as_bytes()) {
        return false;
    }
    match verdict(json, part) {
        Verdict::Possible | Verdict::Silence => false,
        Verdict::NoField => panic!("{}", ConditionPart { who, part }.unknown(json).as_str()),
        Verdict::Other => true,
    }
}

/// Panics, where it is called, with what is there instead.
///
/// # Panics
/// Always: where the compiler evaluates this, that is its error.
#[track_caller]
pub const fn refuse_value(who: &'static str, part: &'static str, json: &'static Json) -> ! {
    panic!("{}", ConditionPart { who, part }.other(json).as_str())
}

/// Whether it is quickly seen that a part is in some value. Of others, the functions below find out: every call costs the
/// compiler's interpreter as much as a hundred lines that call nothing, so this calls nothing.
const fn is_plainly_possible(mut json: &Json, mut part: &[u8]) -> bool {
    loop {
        match (json, part) {
            (Json::Optional(inner), _) => json = inner,
            (Json::Object(fields), [b'.', way @ ..]) => {
                let mut fields: &[Field] = fields;
                (json, part) = loop {
                    let [field, others @ ..] = fields else { return false };
                    let (mut name, mut way) = (field.name.as_bytes(), way);
                    while let ([a, name_rest @ ..], [b, way_rest @ ..]) = (name, way)
                        && *a == *b
                    {
                        (name, way) = (name_rest, way_rest);
                    }
                    if let ([], [0, rest @ ..]) = (name, way) {
                        break (field.json, rest);
                    }
                    fields = others;
                };
            }
            (Json::Integer(least, most), [b'i', digits @ ..]) => {
                let (mut number, mut digits) = (0, digits);
                while let [digit @ b'0'..=b'9', rest @ ..] = digits {
                    (number, digits) = (number * 10 + (*digit - b'0') as i128, rest);
                }
                return digits.is_empty() && *least <= number && number <= *most;
            }
            (Json::Unknown, _)
            | (Json::Object(_), [b'o'])
            | (Json::Boolean, [b'b'])
            | (Json::Text, [b't', ..]) => return true,
            _ => return false,
        }
    }
}

/// Where a part leads first.
const fn leads(part: &'static str) -> Leads {
    let (kind, rest) = part.split_at(1);
    Leads::Here(match kind.as_bytes()[0] {
        b'.' => {
            let (name, rest) = cut(rest);
            return Leads::Field(name, rest);
        }
        b'[' => return Leads::Element(rest),
        b'n' => Wanted::Null,
        b'b' => Wanted::Boolean,
        b'i' => Wanted::Integer(number(rest)),
        b'f' => Wanted::Fraction,
        b't' => Wanted::Text(rest),
        b'a' => Wanted::Array,
        _ => Wanted::Object,
    })
}

/// What is before the first `\0`, and what comes after it.
const fn cut(text: &'static str) -> (&'static str, &'static str) {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() && bytes[at] != 0 {
        at += 1;
    }
    let (before, after) = text.split_at(at);
    (before, if after.is_empty() { after } else { after.split_at(1).1 })
}

/// A whole number that was written by us.
const fn number(text: &str) -> i128 {
    let bytes = text.as_bytes();
    let (is_negative, mut at) = match bytes {
        [b'-', ..] => (true, 1),
        _ => (false, 0),
    };
    let mut number = 0;
    while at < bytes.len() {
        let digit = (bytes[at] - b'0') as i128;
        number = number * 10 + if is_negative { -digit } else { digit };
        at += 1;
    }
    number
}

impl ConditionPart {
    /// There is no such field.
    const fn unknown(&self, json: &'static Json) -> Text {
        let (step, owner) = cut(self.who);
        let text = Text::EMPTY.with("the condition of step `").with(step).with("` names `");
        let text = text.place(self.part, true).with("`, which is not a field of ").with(owner);
        text.fields(reach(json, self.part))
    }

    /// What is there is something else.
    const fn other(&self, json: &'static Json) -> Text {
        let (step, owner) = cut(self.who);
        let text = Text::EMPTY.with("the condition of step `").with(step).with("` compares ");
        let (text, is_whole) = match leads(self.part) {
            Leads::Here(_) => (text.with(owner), true),
            _ => (text.with("`").place(self.part, true).with("` of ").with(owner), false),
        };
        let (json, wanted) = (reach(json, self.part), wanted(self.part));
        let text = text.with(" with ").wanted(&wanted, json);
        let text = text.with(", but it is ").kind(json, &wanted);
        match (wanted, json) {
            (Wanted::Object, Json::Array(_)) if !is_whole => text.with(": write `[{ … }]`"),
            _ => text,
        }
    }
}

impl Text {
    /// `plan.name` or `links[].url`.
    const fn place(self, part: &'static str, is_first: bool) -> Self {
        match leads(part) {
            Leads::Field(name, rest) => {
                let text = if is_first { self } else { self.with(".") };
                text.with(name).place(rest, false)
            }
            Leads::Element(rest) => self.with("[]").place(rest, false),
            Leads::Here(_) => self,
        }
    }
}

/// What is wanted at the end of the way.
const fn wanted(part: &'static str) -> Wanted {
    match leads(part) {
        Leads::Field(_, rest) | Leads::Element(rest) => wanted(rest),
        Leads::Here(wanted) => wanted,
    }
}

const fn verdict(json: &'static Json, part: &'static str) -> Verdict {
    match (json, leads(part)) {
        (Json::Unknown | Json::Refused(_), _) | (Json::Optional(_), Leads::Here(Wanted::Null)) => {
            Verdict::Possible
        }
        (Json::OneOf(all), _) => any(all, part),
        (Json::Optional(json), _) => verdict(json, part),
        (json, Leads::Here(wanted)) if is_possible(json, &wanted) => Verdict::Possible,
        (_, Leads::Here(_)) => Verdict::Other,
        (Json::Array(element), Leads::Element(rest)) => verdict(element, rest),
        (Json::Tuple(all), Leads::Element(rest)) => any(all, rest),
        (Json::Map(value), Leads::Field(_, rest)) => verdict(value, rest),
        (Json::Object(fields), Leads::Field(name, rest)) => match find(fields, name) {
            Some(json) => verdict(json, rest),
            None if is_end(rest) => Verdict::NoField,
            None => Verdict::Silence,
        },
        _ => Verdict::Silence,
    }
}

/// Whether the way ends here.
const fn is_end(part: &'static str) -> bool {
    matches!(leads(part), Leads::Here(_))
}

/// The best that can be said of several.
const fn any(all: &[&'static Json], part: &'static str) -> Verdict {
    let (mut best, mut at) = (Verdict::Silence, 0);
    while at < all.len() {
        let verdict = verdict(all[at], part);
        if verdict as u8 > best as u8 {
            best = verdict;
        }
        at += 1;
    }
    best
}

/// What is at the end of the way, as far as that is one thing; of a field that is not there, what does not have it.
const fn reach(json: &'static Json, part: &'static str) -> &'static Json {
    match (json, leads(part)) {
        (Json::Optional(json), _) => reach(json, part),
        (Json::Array(element), Leads::Element(rest)) => reach(element, rest),
        (Json::Tuple(all), Leads::Element(rest)) => reach(all[0], rest),
        (Json::Map(value), Leads::Field(_, rest)) => reach(value, rest),
        (Json::Object(fields), Leads::Field(name, rest)) => match find(fields, name) {
            Some(json) => reach(json, rest),
            None => json,
        },
        (Json::OneOf(all), Leads::Field(name, _)) => {
            let mut at = 0;
            while at < all.len() {
                if let Json::Object(fields) = all[at]
                    && find(fields, name).is_some()
                {
                    return reach(all[at], part);
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

    fn said(part: &'static str) -> Option<String> {
        let it = ConditionPart { who: "s\0the input", part };
        let text = match verdict(SITE, part) {
            Verdict::Possible | Verdict::Silence => return None,
            Verdict::NoField => it.unknown(SITE),
            Verdict::Other => it.other(SITE),
        };
        Some(text.as_str().to_owned())
    }

    #[test]
    fn looks_for_fields_as_deep_as_types_are_known() {
        assert_eq!(said(".more\0.any\0[n"), None);
        assert_eq!(said(".owner\0.name\0tx"), None);
        assert_eq!(said(".friends\0[.name\0tx"), None);
        for (part, place, there_are) in [
            (".owner\0.nam\0tx", "owner.nam", "is only `name`"),
            (".friends\0[.nam\0tx", "friends[].nam", "is only `name`"),
            (".url\0tx", "url", "are `urls`, `owner`, `friends`, `more`"),
        ] {
            let wrong = format!("names `{place}`, which is not a field of the input");
            let wrong = format!("the condition of step `s` {wrong}; there {there_are}");
            assert_eq!(said(part), Some(wrong));
        }
    }

    #[test]
    fn compares_kinds() {
        assert_eq!(said("o"), None);
        assert_eq!(said(".owner\0n"), None);
        assert_eq!(said(".owner\0.name\0n"), None);
        for (part, kinds) in [
            (".urls\0o", "`urls` of the input with an object, but it is an array"),
            (".urls\0tx", "`urls` of the input with a text, but it is an array"),
            (".urls\0[i-1", "`urls[]` of the input with a number, but it is a text"),
            (".urls\0[n", "`urls[]` of the input with `null`, but it is a text"),
            (".owner\0b", "`owner` of the input with a boolean, but it is an object"),
            ("tx", "the input with a text, but it is an object"),
        ] {
            let said = said(part).expect("it never matches");
            let start = "the condition of step `s` compares ";
            assert!(said.starts_with(&format!("{start}{kinds}")), "{said}");
        }
    }

    #[test]
    fn reads_numbers_as_they_are_written() {
        for written in [0, 7, -1, i128::from(u64::MAX), i128::MIN] {
            assert_eq!(number(&written.to_string()), written);
        }
    }

    #[test]
    fn says_it_once_for_all_that_is_inside() {
        assert_eq!(said(".ownr\0.name\0tx"), None);
        assert_eq!(said(".urls\0.name\0tx"), None);
    }
}
