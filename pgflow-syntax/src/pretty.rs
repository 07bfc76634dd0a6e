//! Tokens as a person would type them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// Tokens as text, without the spaces between them that nobody types.
///
/// ```
/// let ty: syn::Type = syn::parse_str("Vec < Option < u8 > >").expect("a type");
/// assert_eq!(pgflow_syntax::pretty(ty), "Vec<Option<u8>>");
/// ```
pub fn pretty(tokens: impl ToTokens) -> String {
    let mut text = String::new();
    write(tokens.into_token_stream(), &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    let mut glue = true;
    let mut after_reference = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = delimiters(group.delimiter());
                if after_reference {
                    text.push(' ');
                }
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
                (glue, after_reference) = (false, false);
            }
            TokenTree::Punct(punct) => {
                glue = punctuation(punct.as_char(), punct.spacing(), text);
                after_reference = false;
            }
            other => {
                if !glue && !text.ends_with(' ') {
                    text.push(' ');
                }
                let word = other.to_string();
                after_reference = text.ends_with('\'') || word == "mut";
                text.push_str(&word);
                glue = false;
            }
        }
    }
}

/// Writes a mark with its spaces; says whether the next token sticks to it.
fn punctuation(mark: char, spacing: Spacing, text: &mut String) -> bool {
    match mark {
        ',' | ';' => text.extend([mark, ' ']),
        ':' if spacing == Spacing::Alone && !text.ends_with(':') => text.push_str(": "),
        '>' if text.ends_with('-') => text.push_str("> "),
        '>' => text.push('>'),
        '-' if text.ends_with(' ') => text.push('-'),
        '-' => text.push_str(" -"),
        '=' | '+' => text.extend([' ', mark, ' ']),
        other => text.push(other),
    }
    mark != '>'
}

fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => (" { ", " }"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_was_typed() {
        for text in [
            "Vec<Option<User>>",
            "std::collections::HashMap<String, (u32, [u8; 4])>",
            "async fn fetch(item: &str, n: u32) -> Result<Vec<u8>, Oops>",
            "pub async fn nothing()",
            "State<Arc<dyn Mailer>>",
            "impl Future<Output = Box<dyn Error + Send>>",
            "\"days\": -7",
            "(&'static [u8], &mut [u8], &'static (u8, u8))",
        ] {
            let tokens: TokenStream = text.parse().expect("tokens");
            assert_eq!(pretty(tokens), text);
        }
    }
}
