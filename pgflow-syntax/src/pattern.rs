//! `only_if` and `unless`: JSON in quotes, or JSON as tokens.

use pgflow_model::Pattern;
use proc_macro2::Span;
use serde_json::{Map, Number, Value};
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitBool, LitStr, Token, braced, bracketed, token};

use crate::value::equals;

/// A condition, and where its parts were written.
#[derive(Clone)]
pub struct ConditionArg {
    /// The word `only_if` or `unless`.
    pub name: Ident,
    /// What it says.
    pub pattern: Pattern,
    /// Every key of its objects that is not inside an array.
    pub keys: Vec<PatternKey>,
}

/// A key of an object in a pattern.
#[derive(Clone)]
pub struct PatternKey {
    /// Keys from the outermost to this one.
    pub path: Vec<String>,
    /// Where it was written.
    pub span: Span,
}

impl ConditionArg {
    /// Reads `= { "plan": "pro" }` or `= r#"{ "plan": "pro" }"#`.
    pub(crate) fn read(args: ParseStream<'_>, name: &Ident) -> syn::Result<Self> {
        let wanted = format!("`{name}` is a JSON object: `{name} = {{ \"plan\": \"pro\" }}`");
        equals(args, name, &wanted)?;
        if args.peek(token::Brace) {
            return Self::from_tokens(args, name);
        }
        if args.peek(LitStr) {
            return Self::from_text(&args.parse()?, name);
        }
        Err(args.error(wanted))
    }

    fn from_tokens(args: ParseStream<'_>, name: &Ident) -> syn::Result<Self> {
        let mut keys = Vec::new();
        let value = object(args, &mut Vec::new(), Some(&mut keys))?;
        let pattern = Pattern::try_from(value).map_err(|why| {
            syn::Error::new(name.span(), format!("`{name}` cannot be read: {why}"))
        })?;
        Ok(Self { name: name.clone(), pattern, keys })
    }

    fn from_text(literal: &LitStr, name: &Ident) -> syn::Result<Self> {
        let pattern: Pattern = literal.value().parse().map_err(|why| {
            let help = format!("help: write a JSON object: `{name} = {{ \"plan\": \"pro\" }}`");
            syn::Error::new(literal.span(), format!("`{name}` cannot be read: {why}\n{help}"))
        })?;
        let mut keys = Vec::new();
        keys_of(pattern.fields(), &mut Vec::new(), literal.span(), &mut keys);
        Ok(Self { name: name.clone(), pattern, keys })
    }
}

/// The keys of a pattern that is one literal: all of them are written where it is.
fn keys_of(
    fields: &Map<String, Value>,
    path: &mut Vec<String>,
    span: Span,
    keys: &mut Vec<PatternKey>,
) {
    for (key, value) in fields {
        path.push(key.clone());
        keys.push(PatternKey { path: path.clone(), span });
        if let Value::Object(fields) = value {
            keys_of(fields, path, span, keys);
        }
        path.pop();
    }
}

/// Reads `{ "key": value, … }`. Keys inside arrays are not kept: `keys` is `None` there.
fn object(
    input: ParseStream<'_>,
    path: &mut Vec<String>,
    mut keys: Option<&mut Vec<PatternKey>>,
) -> syn::Result<Value> {
    let braces;
    braced!(braces in input);
    let mut fields = Map::new();
    while !braces.is_empty() {
        let key: LitStr = braces.parse().map_err(|why| {
            syn::Error::new(why.span(), "a key of a JSON object is a text in quotes")
        })?;
        path.push(key.value());
        if let Some(keys) = keys.as_deref_mut() {
            keys.push(PatternKey { path: path.clone(), span: key.span() });
        }
        braces.parse::<Token![:]>()?;
        let value = value(&braces, path, keys.as_deref_mut())?;
        path.pop();
        if fields.insert(key.value(), value).is_some() {
            return Err(syn::Error::new(key.span(), format!("{:?} is given twice", key.value())));
        }
        comma(&braces)?;
    }
    Ok(Value::Object(fields))
}

fn value(
    input: ParseStream<'_>,
    path: &mut Vec<String>,
    keys: Option<&mut Vec<PatternKey>>,
) -> syn::Result<Value> {
    if input.peek(token::Brace) {
        return object(input, path, keys);
    }
    if input.peek(token::Bracket) {
        return array(input, path);
    }
    if input.peek(LitBool) {
        return Ok(Value::Bool(input.parse::<LitBool>()?.value));
    }
    if input.peek(syn::Ident) {
        let word: Ident = input.parse()?;
        return if word == "null" { Ok(Value::Null) } else { Err(not_json(word.span())) };
    }
    let minus = input.parse::<Option<Token![-]>>()?.map_or("", |_| "-");
    let literal: Lit = input.parse().map_err(|why| not_json(why.span()))?;
    match &literal {
        Lit::Str(text) if minus.is_empty() => Ok(Value::String(text.value())),
        Lit::Int(number) => parse_number(&format!("{minus}{}", number.base10_digits()), &literal),
        Lit::Float(number) => parse_number(&format!("{minus}{}", number.base10_digits()), &literal),
        other => Err(not_json(other.span())),
    }
}

fn array(input: ParseStream<'_>, path: &mut Vec<String>) -> syn::Result<Value> {
    let brackets;
    bracketed!(brackets in input);
    let mut items = Vec::new();
    while !brackets.is_empty() {
        items.push(value(&brackets, path, None)?);
        comma(&brackets)?;
    }
    Ok(Value::Array(items))
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

fn parse_number(text: &str, literal: &Lit) -> syn::Result<Value> {
    text.parse::<Number>().map(Value::Number).map_err(|_| not_json(literal.span()))
}

fn not_json(span: Span) -> syn::Error {
    syn::Error::new(
        span,
        "this is not JSON: write a text in quotes, a number, `true`, `false`, `null`, `[…]` or `{…}`",
    )
}
