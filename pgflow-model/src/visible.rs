//! Characters that nobody sees, made visible.
//!
//! Names, errors and payloads come from anywhere: they may hold codes for terminals, or turn the direction of a text
//! around so that it reads differently from what it is.

use std::borrow::Cow;
use std::fmt::Write;

/// A text whose invisible characters are shown: `␛` for an escape, `⟨U+202E⟩` for one that has no picture. Line ends and tabs
/// stay.
///
/// ```
/// assert_eq!(pgflow_model::visible("\u{1b}[31mred\u{202e}"), "␛[31mred⟨U+202E⟩");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |shown, c| match c {
        '\0'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
        '\u{7f}' => shown.push('␡'),
        c => _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c)),
    })
}

/// The same for JSON, which stays the same JSON: its strings may say any character by its number.
///
/// ```
/// assert_eq!(pgflow_model::visible_json("\"red\u{202e}\""), r#""red\u202e""#);
/// ```
pub fn visible_json(json: &str) -> Cow<'_, str> {
    replaced(json, |shown, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

/// A text with something else in the place of each character that nobody sees.
fn replaced(text: &str, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let Some(first) = text.find(is_hidden) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut shown = String::with_capacity(text.len() + 64);
    shown.push_str(before);
    for c in rest.chars() {
        if is_hidden(c) { write(&mut shown, c) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Controls, but for line ends and tabs; what changes the direction of a text; what has no width and joins nothing.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_shown() {
        for (text, expected) in [
            ("plain\n\ttext, ä, 👩‍🔬", "plain\n\ttext, ä, 👩‍🔬"),
            ("\u{1b}[31mred\u{7}", "␛[31mred␇"),
            ("a\r\nb\0", "a␍\nb␀"),
            ("\u{9b}31m\u{7f}", "⟨U+009B⟩31m␡"),
            ("user\u{202e}nimda", "user⟨U+202E⟩nimda"),
            ("a\u{200b}b\u{feff}", "a⟨U+200B⟩b⟨U+FEFF⟩"),
            ("\u{e0041}", "⟨U+E0041⟩"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn json_says_the_same_with_what_is_hidden_shown() {
        for (json, expected) in [
            ("[\"plain\",\n\t1]", "[\"plain\",\n\t1]"),
            ("\"\u{9b}31m\u{7f}\"", r#""\u009b31m\u007f""#),
            ("\"a\u{200b}\u{e0041}ä\"", r#""a\u200b\udb40\udc41ä""#),
        ] {
            assert_eq!(visible_json(json), expected);
        }
    }
}
