//! Addresses with parameters.

use std::fmt::Write;

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

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn nothing_ends_a_parameter() {
        assert_eq!(encoded("a_b-1"), "a_b-1");
        assert_eq!(encoded("a&b=\"ä#"), "a%26b%3D%22%C3%A4%23");
    }
}
