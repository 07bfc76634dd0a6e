//! The statements that migrations are made of: each calls one function of the core.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::token::{Token, tokens};

/// `SELECT pgflow.function(…);`
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) arguments: Vec<Argument>,
}

/// `value`, or `name => value`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: Option<String>,
    pub(crate) value: Literal,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Number(u32),
    Texts(Vec<String>),
}

type Tokens = Peekable<IntoIter<Token>>;

/// The calls of a migration, or `None` if there is anything else in it. Transactions around them do
/// not matter.
pub(crate) fn calls(sql: &str) -> Option<Vec<Call>> {
    let mut tokens = tokens(sql)?.into_iter().peekable();
    let mut calls = Vec::new();
    while let Some(word) = tokens.next() {
        match word {
            Token::Word(word) if word == "SELECT" => calls.push(call(&mut tokens)?),
            Token::Word(word) if word == "begin" || word == "commit" => {}
            _ => return None,
        }
        sign(&mut tokens, ';')?;
    }
    Some(calls)
}

fn call(tokens: &mut Tokens) -> Option<Call> {
    tokens.next_if_eq(&Token::Word("pgflow".to_owned()))?;
    sign(tokens, '.')?;
    let Token::Word(function) = tokens.next()? else { return None };
    sign(tokens, '(')?;
    let arguments = listed(tokens, ')', argument)?;
    Some(Call { function, arguments })
}

fn argument(tokens: &mut Tokens) -> Option<Argument> {
    let name = match tokens.peek()? {
        Token::Word(word) if word != "ARRAY" => {
            let name = word.clone();
            tokens.next();
            sign(tokens, '=')?;
            sign(tokens, '>')?;
            Some(name)
        }
        _ => None,
    };
    let value = match tokens.next()? {
        Token::Text(text) => Literal::Text(text),
        Token::Number(number) => Literal::Number(number),
        Token::Word(_) => {
            sign(tokens, '[')?;
            Literal::Texts(listed(tokens, ']', text)?)
        }
        Token::Sign(_) => return None,
    };
    Some(Argument { name, value })
}

fn text(tokens: &mut Tokens) -> Option<String> {
    match tokens.next()? {
        Token::Text(text) => Some(text),
        _ => None,
    }
}

/// What is between commas, up to the sign that ends it.
fn listed<T>(
    tokens: &mut Tokens,
    end: char,
    each: impl Fn(&mut Tokens) -> Option<T>,
) -> Option<Vec<T>> {
    let mut list = vec![each(tokens)?];
    while sign(tokens, ',').is_some() {
        list.push(each(tokens)?);
    }
    sign(tokens, end)?;
    Some(list)
}

fn sign(tokens: &mut Tokens, sign: char) -> Option<()> {
    tokens.next_if_eq(&Token::Sign(sign)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_of_the_core_are_read() {
        for sql in [
            "DROP TABLE a;",
            "SELECT 1;",
            "SELECT other.create_flow('a');",
            "SELECT pgflow.create_flow('a')",
            "SELECT pgflow.create_flow('a'); UPDATE pgflow.flows SET opt_timeout = 1;",
            "SELECT pgflow.create_flow(a);",
        ] {
            assert_eq!(calls(sql), None, "{sql}");
        }
    }
}
