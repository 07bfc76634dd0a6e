//! What the compiler says about a field that a condition names and no value has.

use crate::fields::Field;

/// `message` and the fields there are, if the last field of `path` is not one of them.
///
/// Where fields are not known, any may be there. Fields inside one that is not there are left to
/// the check of that one.
pub const fn unknown_field(fields: Option<&[Field]>, path: &[&str], message: &str) -> Option<Text> {
    let (Some(fields), [first, rest @ ..]) = (fields, path) else { return None };
    let mut at = 0;
    while at < fields.len() {
        if is_same(fields[at].name, first) {
            return unknown_field(fields[at].fields, rest, message);
        }
        at += 1;
    }
    if rest.is_empty() { Some(list(Text::EMPTY.with(message), fields)) } else { None }
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

/// A text made by the compiler.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; Self::ROOM],
    len: usize,
    is_full: bool,
}

impl Text {
    const ROOM: usize = 1024;
    const MORE: &str = "…";
    pub(crate) const EMPTY: Self = Self { bytes: [0; Self::ROOM], len: 0, is_full: false };

    /// The same text with more at its end, or with `…` if there is no room for it.
    pub(crate) const fn with(self, more: &str) -> Self {
        if self.is_full {
            return self;
        }
        if self.len + more.len() + Self::MORE.len() > Self::ROOM {
            return Self { is_full: true, ..self.and(Self::MORE) };
        }
        self.and(more)
    }

    const fn and(mut self, more: &str) -> Self {
        let mut at = 0;
        while at < more.len() {
            self.bytes[self.len + at] = more.as_bytes()[at];
            at += 1;
        }
        self.len += more.len();
        self
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => Self::MORE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &[Field] = &[Field { name: "name", fields: None }];
    const SITE: &[Field] =
        &[Field { name: "url", fields: None }, Field { name: "owner", fields: Some(OWNER) }];

    fn said(path: &[&str]) -> Option<String> {
        unknown_field(Some(SITE), path, "no").map(|text| text.as_str().to_owned())
    }

    #[test]
    fn looks_as_deep_as_types_are_known() {
        assert_eq!(said(&["url"]), None);
        assert_eq!(said(&["url", "anything"]), None);
        assert_eq!(said(&["owner", "name"]), None);
        assert_eq!(said(&["owner", "nam"]).as_deref(), Some("no; there is only `name`"));
        assert_eq!(said(&["ur"]).as_deref(), Some("no; there are `url`, `owner`"));
        assert!(unknown_field(None, &["ur"], "no").is_none());
    }

    #[test]
    fn says_it_once_for_all_that_is_inside() {
        assert_eq!(said(&["ownr", "name"]), None);
    }

    #[test]
    fn stops_where_there_is_no_room() {
        let long = "x".repeat(Text::ROOM - 5);
        let text = unknown_field(Some(SITE), &["ur"], &long).expect("it is not there");
        assert_eq!(text.as_str(), format!("{long}…"));
    }
}
