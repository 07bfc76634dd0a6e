//! Addresses with parameters.

use std::fmt::Write;

use serde::{Deserialize, Deserializer, de};

/// A text as the value of a parameter.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            // Writing to a String cannot fail.
            _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The text that this was made of.
pub(crate) fn decoded(encoded: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(encoded.len()), encoded.as_bytes());
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digit = |digit: u8| char::from(digit).to_digit(16);
        bytes.push(u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

/// A name in a field that nobody sees: [`encoded`], because a page shows what is hidden in a text, and a browser changes the ends of
/// its lines. What was sent would be another name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exact(pub(crate) String);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        decoded(&text).map(Self).ok_or_else(|| de::Error::custom("a name that nobody encoded"))
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn what_was_encoded_comes_back() {
        for text in ["", "a_b-1", "100%", "a\u{200b}b\r\nc\0", "ä&=+ "] {
            assert_eq!(decoded(&encoded(text)).as_deref(), Some(text));
        }
        for text in ["%", "%4", "%zz", "%+1", "%FF"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_ends_a_parameter() {
        assert_eq!(encoded("a_b-1"), "a_b-1");
        assert_eq!(encoded("a&b=\"ä#"), "a%26b%3D%22%C3%A4%23");
    }
}
