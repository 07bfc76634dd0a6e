//! What the compiler says about types that have all traits, and cannot be stored nevertheless.

use crate::known::{Json, Refusal, can_be_key};
use crate::text::Text;

/// Why `what`, which is stored as `json`, cannot be stored, if so. Fields of an object are looked at
/// where its type is defined.
pub const fn refused(what: &str, json: &Json) -> Option<Text> {
    match refusal(json) {
        Some(why) => Some(explained(what, why)),
        None => None,
    }
}

/// The same for a map with keys that are stored as `key`, whatever its values are.
pub const fn refused_keys(what: &str, key: &Json) -> Option<Text> {
    if can_be_key(key) { None } else { Some(explained(what, Refusal::Keys)) }
}

/// The same for the only value of a variant whose name goes into it as a field, `tag`.
pub const fn refused_tagged(what: &str, json: &Json) -> Option<Text> {
    if !is_no_object(json) && !matches!(json, Json::Optional(_)) {
        return None;
    }
    let text = Text::EMPTY.with(what).with(", and its `tag` would go into it, which is no object");
    Some(text.with("\nhelp: give it a place of its own, `#[serde(tag = \"…\", content = \"…\")]`, or name the field"))
}

/// The same for what is to be among the fields of what holds it.
pub const fn refused_flattened(what: &str, json: &Json) -> Option<Text> {
    if let Json::Optional(json) = json {
        return refused_flattened(what, json);
    }
    if !is_no_object(json) {
        return None;
    }
    let text = Text::EMPTY.with(what).with(", and only the fields of an object can be flattened");
    Some(text.with("\nhelp: leave `flatten` away"))
}

const fn is_no_object(json: &Json) -> bool {
    matches!(
        json,
        Json::Boolean
            | Json::Integer(..)
            | Json::Number
            | Json::Text
            | Json::Character
            | Json::Array(_)
            | Json::Tuple(_)
    )
}

const fn explained(what: &str, why: Refusal) -> Text {
    let text = Text::EMPTY.with(what).with(", which cannot be stored: ");
    text.with(match why {
        Refusal::Keys => {
            "the keys of a JSON object are texts, and these are not\n\
             help: store a `Vec` of pairs, or make the key a text"
        }
        Refusal::Wide => {
            "a number has 64 bits at most in JSON\n\
             help: store a text, or a number that fits"
        }
        Refusal::Result => {
            "an `Err` in it would count as completed\n\
             help: return the error from the step, with `?`"
        }
    })
}

const fn refusal(json: &Json) -> Option<Refusal> {
    match json {
        Json::Refused(why) => Some(*why),
        Json::Optional(json) | Json::Array(json) | Json::Map(json) => refusal(json),
        Json::Tuple(all) => {
            let mut at = 0;
            while at < all.len() {
                if let Some(why) = refusal(all[at]) {
                    return Some(why);
                }
                at += 1;
            }
            None
        }
        _ => None,
    }
}
