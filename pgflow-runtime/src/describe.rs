//! JSON in words, put together by the compiler.

use crate::known::Json;
use crate::never::Wanted;
use crate::text::Text;

impl Text {
    /// What a condition asks for: the value itself where only that is wrong, or else its kind.
    pub(crate) const fn wanted(self, wanted: &Wanted, json: &Json) -> Self {
        let text = self;
        match (wanted, json) {
            (Wanted::Integer(number), Json::Integer(..)) => text.number(*number),
            (Wanted::Text(word), Json::Word(_) | Json::Character | Json::OneOf(_)) => {
                text.quoted(word)
            }
            (Wanted::Null, _) => text.with("`null`"),
            (Wanted::Boolean, _) => text.with("a boolean"),
            (Wanted::Fraction, Json::Integer(..)) => text.with("a fraction"),
            (Wanted::Integer(_) | Wanted::Fraction, _) => text.with("a number"),
            (Wanted::Text(_), _) => text.with("a text"),
            (Wanted::Array, _) => text.with("an array"),
            (Wanted::Object, _) => text.with("an object"),
        }
    }

    /// What is stored instead.
    pub(crate) const fn kind(self, json: &Json, wanted: &Wanted) -> Self {
        let text = self;
        match (json, wanted) {
            (Json::Integer(least, most), Wanted::Integer(_)) => {
                text.with("a number from ").number(*least).with(" to ").number(*most)
            }
            (Json::Integer(..), Wanted::Fraction) => text.with("a whole number"),
            (Json::Integer(..) | Json::Number, _) => text.with("a number"),
            (Json::Null, _) => text.with("`null`"),
            (Json::Boolean, _) => text.with("a boolean"),
            (Json::Text, _) => text.with("a text"),
            (Json::Character, _) => text.with("a text of one character"),
            (Json::Word(word), _) => text.quoted(word),
            (Json::Optional(json), _) => text.kind(json, wanted),
            (Json::Array(_) | Json::Tuple(_), _) => text.with("an array"),
            (Json::Map(_) | Json::Object(_), _) => text.with("an object"),
            (Json::OneOf(all), _) => text.one_of(all, wanted),
            (Json::Unknown | Json::Refused(_), _) => text.with("something else"),
        }
    }

    const fn one_of(self, all: &[&Json], wanted: &Wanted) -> Self {
        let mut text = self;
        let mut at = 0;
        while at < all.len() {
            text = if at == 0 { text } else { text.with(" or ") };
            text = match all[at] {
                // A variant with fields: by its name, which is the key.
                Json::Object([only]) => text.with("`{ \"").with(only.name).with("\": … }`"),
                json => text.kind(json, wanted),
            };
            at += 1;
        }
        text
    }

    /// The names of the fields that there are.
    pub(crate) const fn fields(self, json: &Json) -> Self {
        let text = self;
        let count = count(json);
        let text = match count {
            0 => return text,
            1 => text.with("; there is only `"),
            _ => text.with("; there are `"),
        };
        text.names(json, true).with("`")
    }

    const fn names(self, json: &Json, mut is_first: bool) -> Self {
        let mut text = self;
        let mut at = 0;
        match json {
            Json::Object(fields) => {
                while at < fields.len() {
                    text = if is_first { text } else { text.with("`, `") };
                    text = text.with(fields[at].name);
                    is_first = false;
                    at += 1;
                }
            }
            Json::OneOf(all) => {
                while at < all.len() {
                    text = text.names(all[at], is_first);
                    is_first &= count(all[at]) == 0;
                    at += 1;
                }
            }
            _ => {}
        }
        text
    }

    const fn quoted(self, word: &str) -> Self {
        self.with("`\"").with(word).with("\"`")
    }
}

const fn count(json: &Json) -> usize {
    match json {
        Json::Object(fields) => fields.len(),
        Json::OneOf(all) => {
            let (mut sum, mut at) = (0, 0);
            while at < all.len() {
                sum += count(all[at]);
                at += 1;
            }
            sum
        }
        _ => 0,
    }
}
