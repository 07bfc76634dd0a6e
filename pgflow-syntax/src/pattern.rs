//! `only_if` and `unless`: JSON in quotes, or JSON as tokens.

use pgflow_model::Pattern;
use proc_macro2::{Span, TokenStream, TokenTree};
use serde_json::{Map, Number, Value};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, Lit, LitBool, LitStr, Path, Token, braced, bracketed, token};

use crate::pattern_part::{Extent, Parts, PathSegment, PatternPart};
use crate::pretty::pretty;
use crate::value::{equals, up_to_comma};

/// A condition, and where its parts were written.
#[derive(Clone)]
pub struct ConditionArg {
    /// The word `only_if` or `unless`.
    pub name: Ident,
    /// What it says.
    pub pattern: Pattern,
    /// Every value in it, the outermost object excepted.
    pub parts: Vec<PatternPart>,
}

impl ConditionArg {
    /// Reads `= { "plan": "pro" }` or `= r#"{ "plan": "pro" }"#`.
    pub(crate) fn read(args: ParseStream<'_>, name: &Ident) -> syn::Result<Self> {
        let wanted = format!("`{name}` is a JSON object: `{name} = {{ \"plan\": \"pro\" }}`");
        equals(args, name, &wanted)?;
        if args.peek(token::Brace) {
            return Self::from_tokens(args, name);
        }
        if args.peek(LitStr) && args.peek2(Token![:]) {
            let field = up_to_comma(args)?;
            let message = format!(
                "a condition is a JSON object, in braces\nhelp: write `{name} = {{ {} }}`",
                pretty(&field)
            );
            return Err(syn::Error::new_spanned(field, message));
        }
        if args.peek(LitStr) {
            return Self::from_text(&args.parse()?, name);
        }
        Err(syn::Error::new_spanned(up_to_comma(args)?, wanted))
    }

    fn from_tokens(args: ParseStream<'_>, name: &Ident) -> syn::Result<Self> {
        let mut parts = Parts::default();
        let value = object(args, &mut parts)?;
        let pattern = Pattern::try_from(value).map_err(|why| {
            syn::Error::new(name.span(), format!("`{name}` cannot be read: {why}"))
        })?;
        Ok(Self { name: name.clone(), pattern, parts: parts.all })
    }

    fn from_text(literal: &LitStr, name: &Ident) -> syn::Result<Self> {
        let pattern: Pattern = literal.value().parse().map_err(|why| {
            let help = format!("help: write a JSON object: `{name} = {{ \"plan\": \"pro\" }}`");
            syn::Error::new(literal.span(), format!("`{name}` cannot be read: {why}\n{help}"))
        })?;
        let mut parts = Parts::default();
        parts.add_all(&pattern.to_json(), literal.span());
        Ok(Self { name: name.clone(), pattern, parts: parts.all })
    }
}

/// Reads `{ "key": value, … }`.
fn object(input: ParseStream<'_>, parts: &mut Parts) -> syn::Result<Value> {
    let braces;
    braced!(braces in input);
    let mut fields = Map::new();
    while !braces.is_empty() {
        let key = key(&braces)?;
        let at = braces.span();
        let colon = format!("a `:` comes after a key: `{:?}: …`", key.value());
        braces.parse::<Token![:]>().map_err(|_| syn::Error::new(at, colon))?;
        if braces.is_empty() || braces.peek(Token![,]) {
            let message = format!("`{:?}` has no value: `{0:?}: \"…\"`", key.value());
            return Err(syn::Error::new(key.span(), message));
        }
        let place = PathSegment::Field(key.value());
        let value =
            parts.add(place, key.span(), extent(&braces)?, |parts| value(&braces, parts))?;
        if fields.insert(key.value(), value).is_some() {
            return Err(syn::Error::new(key.span(), format!("{:?} is given twice", key.value())));
        }
        comma(&braces)?;
    }
    Ok(Value::Object(fields))
}

fn key(input: ParseStream<'_>) -> syn::Result<LitStr> {
    if let Ok(word) = input.fork().call(Ident::parse_any) {
        if let Some(value) = compared(input) {
            let whole = up_to_comma(input)?;
            let value = pretty(&value);
            let message = format!(
                "a condition is JSON, which is compared as a whole\nhelp: write `\"{word}\": {value}`"
            );
            return Err(syn::Error::new_spanned(whole, message));
        }
        let message = format!("a key is a text in quotes\nhelp: write `\"{word}\"`");
        return Err(syn::Error::new(word.span(), message));
    }
    input.parse().map_err(|why| syn::Error::new(why.span(), "a key is a text in quotes"))
}

/// The value in `key == value` or `key = value`.
fn compared(input: ParseStream<'_>) -> Option<TokenStream> {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).ok()?;
    if ahead.parse::<Option<Token![==]>>().ok()?.is_none() {
        ahead.parse::<Token![=]>().ok()?;
    }
    up_to_comma(&ahead).ok().filter(|value| !value.is_empty())
}

fn value(input: ParseStream<'_>, parts: &mut Parts) -> syn::Result<Value> {
    if input.peek(token::Brace) {
        return object(input, parts);
    }
    if input.peek(token::Bracket) {
        return array(input, parts);
    }
    if input.peek(LitBool) {
        return Ok(Value::Bool(input.parse::<LitBool>()?.value));
    }
    if input.peek(Ident::peek_any) {
        let path = input.call(Path::parse_mod_style)?;
        return if path.is_ident("null") { Ok(Value::Null) } else { Err(a_path(&path)) };
    }
    let minus = input.parse::<Option<Token![-]>>()?.map_or("", |_| "-");
    let literal: Lit = input.parse().map_err(|why| not_json(why.span()))?;
    match &literal {
        Lit::Str(text) if minus.is_empty() => Ok(Value::String(text.value())),
        Lit::Int(number) if !number.suffix().is_empty() => Err(not_json(literal.span())),
        Lit::Float(number) if !number.suffix().is_empty() => Err(not_json(literal.span())),
        Lit::Int(number) => parse_number(&format!("{minus}{}", number.base10_digits()), &literal),
        Lit::Float(number) => parse_number(&format!("{minus}{}", number.base10_digits()), &literal),
        other => Err(not_json(other.span())),
    }
}

/// Where the value that comes next is: a literal, a `-` and a number, or what is in brackets.
fn extent(input: ParseStream<'_>) -> syn::Result<Extent> {
    let ahead = input.fork();
    let first = ahead.span();
    ahead.parse::<Option<Token![-]>>()?;
    let last = match ahead.parse()? {
        TokenTree::Group(group) => group.span_close(),
        token => token.span(),
    };
    Ok(Extent { first, last })
}

fn array(input: ParseStream<'_>, parts: &mut Parts) -> syn::Result<Value> {
    let brackets;
    bracketed!(brackets in input);
    let mut items = Vec::new();
    while !brackets.is_empty() {
        let (span, extent) = (brackets.span(), extent(&brackets)?);
        items.push(parts.add(PathSegment::Element, span, extent, |parts| value(&brackets, parts))?);
        comma(&brackets)?;
    }
    Ok(Value::Array(items))
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if let Some(and) = input.parse::<Option<Token![&&]>>()? {
        return Err(syn::Error::new_spanned(and, "fields are separated by `,`"));
    }
    if !input.is_empty() {
        let at = input.span();
        input
            .parse::<Token![,]>()
            .map_err(|_| syn::Error::new(at, "a `,` is missing before this"))?;
    }
    Ok(())
}

fn parse_number(text: &str, literal: &Lit) -> syn::Result<Value> {
    text.parse::<Number>().map(Value::Number).map_err(|_| not_json(literal.span()))
}

const NOT_JSON: &str =
    "this is not JSON: write a text in quotes, a number, `true`, `false`, `null`, `[…]` or `{…}`";

fn not_json(span: Span) -> syn::Error {
    syn::Error::new(span, NOT_JSON)
}

/// A name, or the variant of an `enum`, which is stored as a text.
fn a_path(path: &Path) -> syn::Error {
    let help = match path.segments.last() {
        Some(last) if last.ident == "None" => "\nhelp: what is not there is `null`".to_owned(),
        Some(variant) if path.segments.len() > 1 => {
            format!(
                "\nhelp: a variant is stored as a text: write `\"{}\"`, or what `rename` or `rename_all` makes of it",
                variant.ident
            )
        }
        _ => String::new(),
    };
    syn::Error::new_spanned(path, format!("{NOT_JSON}{help}"))
}
