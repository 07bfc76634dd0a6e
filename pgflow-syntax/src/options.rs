//! Values of options, each checked where it is read.

use pgflow_model::{
    InvalidSlug, OnSkip, OptionRule, StepOptions, check_flow_slug, check_step_slug, parse_seconds,
};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Ident, LitInt, LitStr, Token};

use crate::suggest::closest;
use crate::value::{equals, value};

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
    equals(input, name, &needs_value(rule))?;
    let (value, at) =
        if input.peek(LitStr) { duration(input, rule)? } else { integer(input, rule)? };
    *place = Some(in_range(value, rule).map_err(|message| syn::Error::new_spanned(at, message))?);
    Ok(())
}

fn integer(input: ParseStream<'_>, rule: OptionRule) -> syn::Result<(i128, TokenStream)> {
    let minus = input.parse::<Option<Token![-]>>()?;
    let literal: LitInt = input.parse().map_err(|why| syn::Error::new(why.span(), wanted(rule)))?;
    let value = literal.base10_parse().unwrap_or(i128::MAX);
    Ok((if minus.is_some() { -value } else { value }, quote!(#minus #literal)))
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
    let word: Ident = value(input, name, &format!("`{name}` is {MODES}, without quotes"))?;
    OnSkip::ALL.into_iter().find(|mode| word == mode.keyword()).ok_or_else(|| {
        let hint = closest(&word.to_string(), OnSkip::ALL.map(OnSkip::keyword))
            .map_or(String::new(), |near| format!("\nhelp: did you mean `{near}`?"));
        syn::Error::new(word.span(), format!("`{name}` is {MODES}, not `{word}`{hint}"))
    })
}

/// Reads `= "slug"` of a flow.
pub(crate) fn flow_slug(input: ParseStream<'_>, name: &Ident) -> syn::Result<LitStr> {
    slug(input, name, check_flow_slug)
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

/// Reads `= 1`, the number of a version.
pub(crate) fn version(input: ParseStream<'_>, name: &Ident) -> syn::Result<LitInt> {
    const WANTED: &str = "`version` is the number of a version in `pgflow.lock`, from 1";
    let literal: LitInt = value(input, name, WANTED)?;
    match literal.base10_parse::<u32>() {
        Ok(1..) => Ok(literal),
        _ => Err(syn::Error::new(literal.span(), WANTED)),
    }
}
