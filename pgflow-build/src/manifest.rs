//! Which files `Cargo.toml` names as roots of targets.
//!
//! Cargo has read the file before us, so it is sound, and its other contents do not matter here.

use std::iter::Peekable;
use std::path::PathBuf;
use std::str::Chars;

/// Every `path` of `[lib]` and `[[bin]]`, also where these are written as `lib.path = …`, `lib = { … }` or
/// `bin = [{ … }]`.
pub(crate) fn target_paths(manifest: &str) -> Vec<PathBuf> {
    let tokens = tokens(manifest);
    let (mut table, mut paths) = (Vec::new(), Vec::new());
    for line in statements(&tokens) {
        if line[0] == Token::Mark('[') {
            table = words(line);
        } else if let Some(at) = line.iter().position(|token| *token == Token::Mark('=')) {
            let (key, value) = (words(&line[..at]), &line[at..]);
            let key: Vec<_> = table.iter().chain(&key).copied().collect();
            match &key[..] {
                ["lib" | "bin", "path"] => paths.extend(value.get(1)),
                ["lib" | "bin"] => paths.extend(inline_paths(value)),
                _ => {}
            }
        }
    }
    paths.into_iter().filter_map(Token::word).map(PathBuf::from).collect()
}

/// What follows each `path =` of an inline table.
fn inline_paths(value: &[Token]) -> impl Iterator<Item = &Token> {
    let pairs = value
        .windows(3)
        .filter(|three| three[0].word() == Some("path") && three[1] == Token::Mark('='));
    pairs.map(|three| &three[2])
}

#[derive(Debug, PartialEq)]
enum Token {
    /// A key or a value, without quotes.
    Word(String),
    Mark(char),
    Line,
}

impl Token {
    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

fn words(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().filter_map(Token::word).collect()
}

/// Headers and assignments; values in brackets may go over several lines.
fn statements(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0_usize;
    let ends = move |token: &Token| {
        match token {
            Token::Mark('[' | '{') => depth += 1,
            Token::Mark(']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == Token::Line
    };
    tokens.split(ends).filter(|line| !line.is_empty())
}

fn tokens(text: &str) -> Vec<Token> {
    let (mut tokens, mut rest) = (Vec::new(), text.chars().peekable());
    while let Some(next) = rest.next() {
        match next {
            '\n' => tokens.push(Token::Line),
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' | '\'' => tokens.push(Token::Word(quoted(next, &mut rest))),
            '[' | ']' | '{' | '}' | '=' | ',' | '.' => tokens.push(Token::Mark(next)),
            _ if next.is_whitespace() => {}
            _ => {
                let mut word = String::from(next);
                let is_bare = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | ':');
                while let Some(more) = rest.next_if(is_bare) {
                    word.push(more);
                }
                tokens.push(Token::Word(word));
            }
        }
    }
    tokens
}

/// What is between quotes, or between three of them on each side.
fn quoted(quote: char, rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    let mut opened = 1;
    while opened < 3 && rest.next_if_eq(&quote).is_some() {
        opened += 1;
    }
    if opened == 2 {
        return text; // Empty.
    }
    let mut closing = 0;
    while let Some(next) = rest.next() {
        closing = if next == quote { closing + 1 } else { 0 };
        if closing == opened {
            text.truncate(text.len() + 1 - opened);
            return text;
        }
        text.push(match next {
            '\\' if quote == '"' => rest.next().unwrap_or(next),
            _ => next,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(manifest: &str) -> Vec<String> {
        let paths = target_paths(manifest).into_iter();
        paths.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn targets_may_have_other_paths() {
        let manifest = "[package]\npath = \"no\"\n[lib]\npath = \"lib/flows.rs\" # ours\n\
                        [dependencies]\na = { path = \"no\" }\n[[bin]]\nname = \"x\"\npath='cli.rs'\n";
        assert_eq!(named(manifest), ["lib/flows.rs", "cli.rs"]);
    }

    #[test]
    fn however_they_are_written() {
        for (manifest, expected) in [
            ("lib.path = \"a.rs\"\n[package]\nname = \"x\"\n", &["a.rs"][..]),
            ("lib = { name = \"x\", path = \"a.rs\" }\n[package]\n", &["a.rs"]),
            (
                "bin = [ # two\n  { name = \"x\", path = 'a.rs' },\n  { path = \"b.rs\", name = \"[lib]\" },\n]\n",
                &["a.rs", "b.rs"],
            ),
            ("[ lib ]\n\"path\" = \"a#b.rs\"\n", &["a#b.rs"]),
            ("[[ bin ]]\npath = \"\"\"a.rs\"\"\"\n[bin.x]\npath = \"no\"\n", &["a.rs"]),
            ("[package]\ndescription = '''\n[lib]\npath = \"no\"\n'''\nauthors = [\"\"]\n", &[]),
            ("[package]\nlib.path = \"no\"\n[dependencies]\nlib = { path = \"no\" }\n", &[]),
            ("[lib]\ncrate-type = [\n \"lib\",\n]\npath = \"a\\\\b.rs\"\n", &["a\\b.rs"]),
        ] {
            assert_eq!(named(manifest), expected, "{manifest}");
        }
    }
}
