//! Values of options, each checked where it is read.

use pgflow_model::{
    InvalidSlug, OnSkip, OptionRule, StepOptions, check_flow_slug, check_step_slug, parse_seconds,
};
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Ident, LitInt, LitStr, Token};

use crate::suggest::closest;

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
    input.parse::<Token![=]>()?;
    let (value, span) = match input.peek(LitStr) {
        true => duration(input, rule)?,
        false => integer(input, rule)?,
    };
    *place = Some(in_range(value, rule).map_err(|message| syn::Error::new(span, message))?);
    Ok(())
}

fn integer(input: ParseStream<'_>, rule: OptionRule) -> syn::Result<(i128, Span)> {
    let minus = input.parse::<Option<Token![-]>>()?;
    let literal: LitInt = input.parse().map_err(|why| syn::Error::new(why.span(), wanted(rule)))?;
    let value = literal.base10_parse().unwrap_or(i128::MAX);
    Ok((if minus.is_some() { -value } else { value }, literal.span()))
}

fn duration(input: ParseStream<'_>, rule: OptionRule) -> syn::Result<(i128, Span)> {
    let literal: LitStr = input.parse()?;
    if !rule.is_duration {
        return Err(syn::Error::new(literal.span(), wanted(rule)));
    }
    let seconds = parse_seconds(&literal.value()).map_err(|why| {
        syn::Error::new(literal.span(), format!("`{}` cannot be read: {why}", rule.name))
    })?;
    Ok((i128::from(seconds), literal.span()))
}

fn wanted(OptionRule { name, is_duration, .. }: OptionRule) -> String {
    if is_duration {
        format!("`{name}` is a number of seconds or a duration: `{name} = 30` or `{name} = \"5m\"`")
    } else {
        format!("`{name}` is a whole number, such as `{name} = 3`")
    }
}

fn in_range(value: i128, OptionRule { name, min, .. }: OptionRule) -> Result<u32, String> {
    if value < i128::from(min) {
        return Err(format!("`{name}` must be at least {min}"));
    }
    u32::try_from(value)
        .ok()
        .filter(|value| *value <= OptionRule::MAX)
        .ok_or_else(|| format!("`{name}` must be at most {}", OptionRule::MAX))
}

/// Reads `= skip` for `when_unmet` and `when_exhausted`.
pub(crate) fn on_skip(input: ParseStream<'_>, name: &Ident) -> syn::Result<OnSkip> {
    const MODES: &str = "one of `fail`, `skip` or `skip_cascade`";
    input.parse::<Token![=]>()?;
    let word: Ident = input.parse().map_err(|why| {
        syn::Error::new(why.span(), format!("`{name}` is {MODES}, without quotes"))
    })?;
    OnSkip::ALL.into_iter().find(|mode| word == mode.keyword()).ok_or_else(|| {
        let hint = closest(&word.to_string(), OnSkip::ALL.map(OnSkip::keyword))
            .map_or(String::new(), |near| format!("\nhelp: did you mean `{near}`?"));
        syn::Error::new(word.span(), format!("`{name}` is {MODES}, not `{word}`{hint}"))
    })
}

/// Reads `= "slug"` of a flow.
pub(crate) fn flow_slug(input: ParseStream<'_>) -> syn::Result<LitStr> {
    slug(input, check_flow_slug)
}

/// Reads `= "slug"` of a step.
pub(crate) fn step_slug(input: ParseStream<'_>) -> syn::Result<LitStr> {
    slug(input, check_step_slug)
}

fn slug(input: ParseStream<'_>, check: fn(&str) -> Result<(), InvalidSlug>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    let literal: LitStr = input.parse().map_err(|why| {
        syn::Error::new(why.span(), "`slug` is a text in quotes, such as `slug = \"fetch_user\"`")
    })?;
    check(&literal.value()).map_err(|why| {
        syn::Error::new(literal.span(), format!("{:?} cannot be a slug: {why}", literal.value()))
    })?;
    Ok(literal)
}

/// Reads `= 1`, the number of a version.
pub(crate) fn version(input: ParseStream<'_>) -> syn::Result<LitInt> {
    const WANTED: &str = "`version` is the number of a version in `pgflow.lock`, from 1";
    input.parse::<Token![=]>()?;
    let literal: LitInt = input.parse().map_err(|why| syn::Error::new(why.span(), WANTED))?;
    match literal.base10_parse::<u32>() {
        Ok(1..) => Ok(literal),
        _ => Err(syn::Error::new(literal.span(), WANTED)),
    }
}
