//! The tokens of the SQL that migrations are written in.

use std::iter::Peekable;
use std::str::Chars;

/// A token of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Number(u32),
    Sign(char),
}

/// The tokens of a text, without comments; `None` where it is not of the kind that we write.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut chars = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(&next) = chars.peek() {
        match next {
            _ if next.is_whitespace() => {
                chars.next();
            }
            '-' => comment(&mut chars)?,
            '\'' => tokens.push(Token::Text(quoted(&mut chars, false)?)),
            '0'..='9' => tokens.push(Token::Number(word(&mut chars).parse().ok()?)),
            _ if is_word(next) => tokens.push(word_or_text(&mut chars)?),
            '(' | ')' | '[' | ']' | ',' | '.' | ';' | '=' | '>' => {
                tokens.push(Token::Sign(next));
                chars.next();
            }
            _ => return None,
        }
    }
    Some(tokens)
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}

fn word(chars: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| chars.next_if(|&next| is_word(next))).collect()
}

/// A word, or a text with escapes: `E'…'`.
fn word_or_text(chars: &mut Peekable<Chars<'_>>) -> Option<Token> {
    let word = word(chars);
    if word == "E" && chars.peek() == Some(&'\'') {
        return quoted(chars, true).map(Token::Text);
    }
    Some(Token::Word(word))
}

fn comment(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    chars.next();
    chars.next_if_eq(&'-')?;
    while chars.next_if(|&next| next != '\n').is_some() {}
    Some(())
}

fn quoted(chars: &mut Peekable<Chars<'_>>, has_escapes: bool) -> Option<String> {
    chars.next();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\'' if chars.next_if_eq(&'\'').is_some() => text.push('\''),
            '\'' => return Some(text),
            '\\' if has_escapes => text.push(chars.next_if_eq(&'\\')?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_the_database_reads_them() {
        for (sql, text) in
            [("'it''s'", "it's"), ("E'a\\\\b'", "a\\b"), ("'a\\b'", "a\\b"), ("''", "")]
        {
            assert_eq!(tokens(sql), Some(vec![Token::Text(text.to_owned())]), "{sql}");
        }
    }

    #[test]
    fn what_we_do_not_write_is_not_read() {
        for sql in ["'open", "E'\\n'", "a - b", "$1", "99999999999", "\"name\""] {
            assert_eq!(tokens(sql), None, "{sql}");
        }
    }
}
