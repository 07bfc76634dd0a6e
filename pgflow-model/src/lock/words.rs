//! The words of a line.

use serde_json::Value;

use crate::Pattern;

/// A line that is read from its start.
pub(super) struct Words<'a>(pub(super) &'a str);

impl<'a> Words<'a> {
    /// The next word, up to a space.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let end = text.find(' ').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The next word, which has to be this one.
    pub(super) fn skip(&mut self, word: &str) -> Option<()> {
        (self.next()? == word).then_some(())
    }

    /// Everything that is left.
    pub(super) fn rest(&mut self) -> &'a str {
        std::mem::take(&mut self.0).trim()
    }

    /// `a, b, c`.
    pub(super) fn list(&mut self) -> Option<Vec<String>> {
        let mut list = Vec::new();
        loop {
            let word = self.next()?;
            list.push(word.trim_end_matches(',').to_owned());
            if !word.ends_with(',') {
                return Some(list);
            }
        }
    }

    /// What follows `name=`, if that is next.
    pub(super) fn key(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let (name, value) = text.split_once('=')?;
        if name.contains([' ', ':']) {
            return None;
        }
        self.0 = value;
        Some(name)
    }

    /// A JSON object, which may hold spaces.
    pub(super) fn pattern(&mut self) -> Option<Pattern> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter::<Value>();
        let value = values.next()?.ok()?;
        self.0 = &self.0[values.byte_offset()..];
        Pattern::try_from(value).ok()
    }
}
