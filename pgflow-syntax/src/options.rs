//! Values of options, each checked where it is read.

use pgflow_model::{
    InvalidSlug, OnSkip, OptionRule, StepOptions, check_flow_slug, check_step_slug,
    is_version_slug, parse_seconds,
};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, LitInt, LitStr, Path, Token};

use crate::suggest::closest;
use crate::value::{equals, value, wrong_value};

/// Reads `= 5` or `= "5m"` for the option `name` and stores it.
pub(crate) fn number(
    input: ParseStream<'_>,
    name: &Ident,
    into: &mut StepOptions,
) -> syn::Result<()> {
    let word = name.to_string();
    let (Some(rule), Some(place)) = (OptionRule::of(&word), into.get_mut(&word)) else {
        return Err(syn::Error::new(name.span(), format!("there is no option `{name}`")));
    };
    *place = Some(number_of(input, name, rule)?);
    Ok(())
}

/// Reads `= 5` or `= "5m"` under a rule.
pub(crate) fn number_of(
    input: ParseStream<'_>,
    name: &Ident,
    rule: OptionRule,
) -> syn::Result<u32> {
    equals(input, name, &needs_value(rule))?;
    let (value, at) =
        if input.peek(LitStr) { duration(input, rule)? } else { integer(input, rule)? };
    if let Some(more) = rest(input)? {
        return Err(syn::Error::new_spanned(quote!(#at #more), wanted(rule)));
    }
    in_range(value, rule).map_err(|message| syn::Error::new_spanned(at, message))
}

fn integer(input: ParseStream<'_>, rule: OptionRule) -> syn::Result<(i128, TokenStream)> {
    let minus = input.parse::<Option<Token![-]>>()?;
    let at = input.span();
    let Ok(literal) = input.parse::<LitInt>() else {
        let value = until_comma(input)?;
        return Err(if value.is_empty() {
            syn::Error::new(at, wanted(rule))
        } else {
            syn::Error::new_spanned(value, wanted(rule))
        });
    };
    if !literal.suffix().is_empty() {
        return Err(syn::Error::new(literal.span(), wanted(rule)));
    }
    let value = literal.base10_parse().unwrap_or(i128::MAX);
    Ok((if minus.is_some() { -value } else { value }, quote!(#minus #literal)))
}

/// What follows a value before the next `,`: it makes the value an expression. A word or `&&` does not: there
/// the `,` is missing.
fn rest(input: ParseStream<'_>) -> syn::Result<Option<TokenStream>> {
    let ends = input.is_empty() || input.peek(Token![,]) || input.peek(Token![&&]);
    if ends || input.peek(Ident::peek_any) {
        return Ok(None);
    }
    until_comma(input).map(Some)
}

fn until_comma(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

fn duration(input: ParseStream<'_>, rule: OptionRule) -> syn::Result<(i128, TokenStream)> {
    let literal: LitStr = input.parse()?;
    if !rule.is_duration {
        return Err(syn::Error::new(literal.span(), wanted(rule)));
    }
    let seconds = parse_seconds(&literal.value()).map_err(|why| {
        syn::Error::new(literal.span(), format!("`{}` cannot be read: {why}", rule.name))
    })?;
    Ok((i128::from(seconds), literal.into_token_stream()))
}

fn wanted(OptionRule { name, is_duration, .. }: OptionRule) -> String {
    if is_duration {
        format!("`{name}` is a number of seconds or a duration: `{name} = 30` or `{name} = \"5m\"`")
    } else {
        format!("`{name}` is a whole number, such as `{name} = 3`")
    }
}

fn needs_value(OptionRule { name, is_duration, .. }: OptionRule) -> String {
    if is_duration {
        format!("`{name}` needs a value: `{name} = 30` or `{name} = \"5m\"`")
    } else {
        format!("`{name}` needs a value: `{name} = 3`")
    }
}

fn in_range(value: i128, rule: OptionRule) -> Result<u32, String> {
    let OptionRule { name, min, is_duration } = rule;
    let unit = |number: u32| match number {
        _ if !is_duration => "",
        1 => " second",
        _ => " seconds",
    };
    if value < i128::from(min) {
        return Err(format!("`{name}` must be at least {min}{}", unit(min)));
    }
    let max = OptionRule::MAX;
    u32::try_from(value)
        .ok()
        .filter(|value| *value <= max)
        .ok_or_else(|| format!("`{name}` must be at most {max}{}", unit(max)))
}

/// Reads `= skip` for `when_unmet` and `when_exhausted`.
pub(crate) fn on_skip(input: ParseStream<'_>, name: &Ident) -> syn::Result<OnSkip> {
    const MODES: &str = "one of `fail`, `skip` or `skip_cascade`";
    let wanted = format!("`{name}` is {MODES}, without quotes");
    equals(input, name, &wanted)?;
    let whole = input.fork();
    let path = input.call(Path::parse_mod_style).map_err(|_| wrong_value(&whole, &wanted))?;
    let word = path.require_ident().map_err(|_| syn::Error::new_spanned(&path, &wanted))?;
    if input.peek(Token![-]) {
        let (dash, rest) = (input.parse::<Token![-]>()?, input.parse::<Option<Ident>>()?);
        let message = format!("`{name}` is {MODES}\nhelp: write `{word}_{}`", quote!(#rest));
        return Err(syn::Error::new_spanned(quote!(#path #dash #rest), message));
    }
    OnSkip::ALL.into_iter().find(|mode| word == mode.keyword()).ok_or_else(|| {
        let hint = closest(&word.to_string(), OnSkip::ALL.map(OnSkip::keyword))
            .map_or(String::new(), |near| format!("\nhelp: did you mean `{near}`?"));
        syn::Error::new(word.span(), format!("`{name}` is {MODES}, not `{word}`{hint}"))
    })
}

/// Reads `= "slug"` of a flow.
pub(crate) fn flow_slug(input: ParseStream<'_>, name: &Ident) -> syn::Result<LitStr> {
    let literal = slug(input, name, check_flow_slug)?;
    match version_like(&literal.value()) {
        Some(why) => Err(syn::Error::new(
            literal.span(),
            format!("{:?} cannot be a slug: {why}", literal.value()),
        )),
        None => Ok(literal),
    }
}

/// Why a flow cannot have this name, if it is one that versions of a flow get.
pub(crate) fn version_like(slug: &str) -> Option<String> {
    let (flow, version) = slug.rsplit_once("__v").filter(|_| is_version_slug(slug))?;
    Some(format!("version {version} of a flow `{flow}` would have this name"))
}

/// Reads `= "slug"` of a step.
pub(crate) fn step_slug(input: ParseStream<'_>, name: &Ident) -> syn::Result<LitStr> {
    slug(input, name, check_step_slug)
}

fn slug(
    input: ParseStream<'_>,
    name: &Ident,
    check: fn(&str) -> Result<(), InvalidSlug>,
) -> syn::Result<LitStr> {
    let wanted = format!("`{name}` is a text in quotes, such as `{name} = \"fetch_user\"`");
    let literal: LitStr = value(input, name, &wanted)?;
    check(&literal.value()).map_err(|why| {
        syn::Error::new(literal.span(), format!("{:?} cannot be a slug: {why}", literal.value()))
    })?;
    Ok(literal)
}

/// Reads `= 1`, a number that counts something from one; `wanted` says what.
pub(crate) fn from_one(input: ParseStream<'_>, name: &Ident, wanted: &str) -> syn::Result<LitInt> {
    let literal: LitInt = value(input, name, wanted)?;
    match literal.base10_parse::<u32>() {
        Ok(1..) => Ok(literal),
        _ => Err(syn::Error::new(literal.span(), wanted)),
    }
}
