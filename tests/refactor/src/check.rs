//! What `cargo check` finds, as places in the user's source.

use std::collections::BTreeSet;

use serde::Deserialize;

/// Where an error points: a line of a file, and what is underlined in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Relative to the example crate.
    pub file: String,
    /// The line as written, without its indentation.
    pub line: String,
    /// The underlined part of it.
    pub token: String,
}

/// The outcome of one `cargo check`.
#[derive(Debug)]
pub struct Checked {
    /// Places of all errors, one each.
    pub errors: Vec<Place>,
    /// The errors as the compiler prints them.
    pub rendered: String,
}

impl Checked {
    /// Reads the messages of `cargo check --message-format=json`.
    ///
    /// # Panics
    /// When a message is not what cargo documents.
    pub fn read(json_lines: &str) -> Self {
        let messages = json_lines.lines().filter(|line| line.starts_with('{'));
        let messages = messages.map(|line| serde_json::from_str(line).expect("cargo prints JSON"));
        let errors: Vec<Message> = messages.filter_map(Line::error).collect();
        let rendered = errors.iter().filter_map(|error| error.rendered.clone()).collect();
        Self { errors: errors.iter().filter_map(Message::place).collect(), rendered }
    }

    /// Asserts that it compiles.
    ///
    /// # Panics
    /// When it does not.
    pub fn compiles(&self) {
        assert!(self.errors.is_empty(), "expected no errors, got:\n{}", self.rendered);
    }

    /// Asserts that there is exactly one error at each of these places, and none elsewhere.
    ///
    /// # Panics
    /// When there are others, or fewer.
    pub fn stops_at(&self, expected: &[Place]) {
        let found: BTreeSet<&Place> = self.errors.iter().collect();
        let expected: BTreeSet<&Place> = expected.iter().collect();
        assert_eq!(found, expected, "the compiler said:\n{}", self.rendered);
        assert_eq!(self.errors.len(), expected.len(), "an error is repeated:\n{}", self.rendered);
    }
}

#[derive(Deserialize)]
struct Line {
    message: Option<Message>,
}

impl Line {
    fn error(self) -> Option<Message> {
        self.message.filter(|message| message.level == "error" && !message.spans.is_empty())
    }
}

#[derive(Deserialize)]
struct Message {
    level: String,
    spans: Vec<Span>,
    rendered: Option<String>,
}

impl Message {
    fn place(&self) -> Option<Place> {
        self.spans.iter().find(|span| span.is_primary).map(Span::place)
    }
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    is_primary: bool,
    text: Vec<SourceLine>,
}

impl Span {
    fn place(&self) -> Place {
        let first = self.text.first().expect("the compiler shows the source");
        let underlined = first.text.chars().skip(first.highlight_start - 1);
        let token = underlined.take(first.highlight_end - first.highlight_start).collect();
        Place { file: self.file_name.clone(), line: first.text.trim().to_owned(), token }
    }
}

#[derive(Deserialize)]
struct SourceLine {
    text: String,
    highlight_start: usize,
    highlight_end: usize,
}
