//! `resources = ["gpu"]` and `rate = "openai"`: what a claim has to get besides.

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token, bracketed};

use crate::value::{equals, value, wrong_value};

/// What the name of a resource or a rate may be at most, in bytes.
const NAME_BYTES: usize = 128;

const RESOURCES: &str = "`resources` is a list of texts in quotes, such as `resources = [\"gpu\"]`";

/// What an attempt has to get before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permits {
    /// Resources that it holds a unit of.
    pub resources: Vec<String>,
    /// The rate that it takes a token of.
    pub rate: Option<String>,
}

impl Permits {
    /// Reads one of the two, if it is this option.
    pub(crate) fn option(&mut self, name: &Ident, args: ParseStream<'_>) -> syn::Result<bool> {
        if name == "resources" {
            self.resources = resources(args, name)?;
        } else if name == "rate" {
            self.rate = Some(rate(args, name)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// Reads `= ["gpu", …]`.
fn resources(args: ParseStream<'_>, name: &Ident) -> syn::Result<Vec<String>> {
    equals(args, name, RESOURCES)?;
    if !args.peek(syn::token::Bracket) {
        return Err(wrong_value(args, RESOURCES));
    }
    let (list, at);
    let bracket = bracketed!(list in args);
    at = list.span();
    let wanted = |_| syn::Error::new(at, RESOURCES);
    let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&list).map_err(wanted)?;
    if names.is_empty() {
        let message = "there is nothing in this list: name a resource, or leave `resources` out";
        return Err(syn::Error::new(bracket.span.join(), message));
    }
    let mut found: Vec<String> = Vec::new();
    for literal in &names {
        let slug = checked(literal, "resource")?;
        if found.contains(&slug) {
            let message = format!("resource {slug:?} is in this list already");
            return Err(syn::Error::new(literal.span(), message));
        }
        found.push(slug);
    }
    Ok(found)
}

/// Reads `= "openai"`.
fn rate(args: ParseStream<'_>, name: &Ident) -> syn::Result<String> {
    let wanted = "`rate` is a text in quotes, such as `rate = \"openai\"`";
    checked(&value(args, name, wanted)?, "rate")
}

/// A name that any database can store.
fn checked(literal: &LitStr, what: &str) -> syn::Result<String> {
    let text = literal.value();
    let why = if text.is_empty() {
        "it is empty"
    } else if text.len() > NAME_BYTES {
        "it has more than 128 bytes"
    } else if text.contains('\0') {
        "it has the character NUL"
    } else {
        return Ok(text);
    };
    Err(syn::Error::new(literal.span(), format!("this cannot be the name of a {what}: {why}")))
}
