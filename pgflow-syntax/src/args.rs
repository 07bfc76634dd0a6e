//! Arguments of `#[flow(…)]` and `#[step(…)]`.

use std::collections::HashSet;

use pgflow_model::{OnSkip, StepOptions};
use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitInt, LitStr, Meta, Path, Token, Type, bracketed, token};

use crate::errors::Errors;
use crate::options;
use crate::pattern::ConditionArg;
use crate::suggest::closest;
use crate::value::{boolean, equals, value};

const INPUT: &str = "`input` is a type: `input = Signup`";
const DEPENDS_ON: &str = "`depends_on` is a list of steps: `depends_on = [fetch_user]`";

/// What `#[flow(…)]` said.
#[derive(Default)]
pub(crate) struct FlowArgs {
    pub(crate) input: Option<(Ident, Type)>,
    pub(crate) slug: Option<LitStr>,
    pub(crate) options: StepOptions,
    pub(crate) has_no_schema: bool,
    pub(crate) crate_path: Option<Path>,
    pub(crate) version: Option<LitInt>,
}

/// What `#[step(…)]` said.
#[derive(Default)]
pub(crate) struct StepArgs {
    pub(crate) map: Option<Ident>,
    pub(crate) slug: Option<LitStr>,
    pub(crate) depends_on: Vec<DependsOn>,
    pub(crate) only_if: Option<ConditionArg>,
    pub(crate) unless: Option<ConditionArg>,
    pub(crate) when_unmet: Option<(Ident, OnSkip)>,
    pub(crate) when_exhausted: Option<OnSkip>,
    pub(crate) options: StepOptions,
    pub(crate) was: Option<LitStr>,
}

/// `fetch_user`, or `fetch_user as user`.
pub(crate) struct DependsOn {
    pub(crate) step: Ident,
    /// The whole of `other_flow::step`, which is not allowed; `step` is its last name.
    pub(crate) path: Option<Path>,
    pub(crate) alias: Option<Ident>,
}

impl FlowArgs {
    const KNOWN: &'static [&'static str] =
        &["input", "slug", "max_attempts", "base_delay", "timeout", "schema", "crate", "version"];

    pub(crate) fn read(args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut out = Self::default();
        each_option(args, Self::KNOWN, errors, |name, args| {
            match name.to_string().as_str() {
                "input" => out.input = Some((name.clone(), value(args, name, INPUT)?)),
                "slug" => out.slug = Some(options::flow_slug(args, name)?),
                "schema" => out.has_no_schema = !boolean(args, name)?,
                "crate" => out.crate_path = Some(crate_path(args, name)?),
                "version" => out.version = Some(options::version(args, name)?),
                _ => options::number(args, name, &mut out.options)?,
            }
            Ok(())
        })?;
        Ok(out)
    }
}

impl StepArgs {
    const KNOWN: &'static [&'static str] = &[
        "depends_on",
        "map",
        "slug",
        "max_attempts",
        "base_delay",
        "timeout",
        "start_delay",
        "only_if",
        "unless",
        "when_unmet",
        "when_exhausted",
        "was",
    ];

    pub(crate) fn read(marker: &Attribute, errors: &mut Errors) -> Self {
        let mut out = Self::default();
        let result = match &marker.meta {
            Meta::Path(_) => Ok(()),
            Meta::List(list) => list.parse_args_with(|args: ParseStream<'_>| {
                each_option(args, Self::KNOWN, errors, |name, args| out.option(name, args))
            }),
            Meta::NameValue(meta) => Err(syn::Error::new_spanned(
                meta,
                "options go in parentheses: `#[step(depends_on = [other_step])]`",
            )),
        };
        errors.keep(result);
        out
    }

    fn option(&mut self, name: &Ident, args: ParseStream<'_>) -> syn::Result<()> {
        match name.to_string().as_str() {
            "depends_on" => self.depends_on = depends_on(args, name)?,
            "map" => self.map = Some(flag(args, name)?),
            "slug" => self.slug = Some(options::step_slug(args, name)?),
            "was" => self.was = Some(options::step_slug(args, name)?),
            "only_if" => self.only_if = Some(ConditionArg::read(args, name)?),
            "unless" => self.unless = Some(ConditionArg::read(args, name)?),
            "when_unmet" => self.when_unmet = Some((name.clone(), options::on_skip(args, name)?)),
            "when_exhausted" => self.when_exhausted = Some(options::on_skip(args, name)?),
            _ => options::number(args, name, &mut self.options)?,
        }
        Ok(())
    }
}

/// Reads `name …, name …`; one wrong option does not hide the next.
pub(crate) fn each_option(
    args: ParseStream<'_>,
    known: &[&str],
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let mut seen = HashSet::new();
    while !args.is_empty() {
        let name = args.call(Ident::parse_any)?;
        let result = if !known.contains(&name.to_string().as_str()) {
            Err(unknown_option(&name, known))
        } else if !seen.insert(name.to_string()) {
            Err(syn::Error::new(name.span(), format!("`{name}` is given more than once")))
        } else {
            // In a fork, or what a wrong value leaves unread would be reported once more.
            let fork = args.fork();
            read(&name, &fork).map(|()| args.advance_to(&fork))
        };
        if errors.keep(result).is_none() {
            skip_to_comma(args)?;
        }
        if !args.is_empty() {
            args.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

/// Reads `= ::renamed`. It is used inside the module and outside, so it cannot be relative.
pub(crate) fn crate_path(args: ParseStream<'_>, name: &Ident) -> syn::Result<Path> {
    const WANTED: &str =
        "`crate` is a path from a crate: `crate = renamed`, or `crate = crate::reexport::pgflow`";
    equals(args, name, WANTED)?;
    let at = args.span();
    let path = args.call(Path::parse_mod_style).map_err(|_| syn::Error::new(at, WANTED))?;
    match path.segments.first() {
        Some(first) if first.ident == "self" || first.ident == "super" => {
            Err(syn::Error::new_spanned(&path, WANTED))
        }
        _ => Ok(path),
    }
}

/// An option without a value.
fn flag(args: ParseStream<'_>, name: &Ident) -> syn::Result<Ident> {
    if args.is_empty() || args.peek(Token![,]) {
        return Ok(name.clone());
    }
    Err(syn::Error::new(name.span(), format!("`{name}` takes no value: write `{name}` alone")))
}

fn unknown_option(name: &Ident, known: &[&str]) -> syn::Error {
    let help = match closest(&name.to_string(), known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the options are `{}`", known.join("`, `")),
    };
    syn::Error::new(name.span(), format!("there is no option `{name}`\nhelp: {help}"))
}

fn skip_to_comma(args: ParseStream<'_>) -> syn::Result<()> {
    while !args.is_empty() && !args.peek(Token![,]) {
        args.parse::<TokenTree>()?;
    }
    Ok(())
}

/// Reads `= step`, or `= [step, other as name]`.
fn depends_on(args: ParseStream<'_>, name: &Ident) -> syn::Result<Vec<DependsOn>> {
    equals(args, name, DEPENDS_ON)?;
    if !args.peek(token::Bracket) {
        return Ok(vec![args.parse()?]);
    }
    let list;
    bracketed!(list in args);
    let list = Punctuated::<DependsOn, Token![,]>::parse_terminated(&list)?;
    Ok(list.into_iter().collect())
}

/// Reads `other_flow::step`, if it is more than a name.
fn path(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if !input.peek(Token![::]) && !input.peek2(Token![::]) {
        return Ok(None);
    }
    let at = input.span();
    let path = input.call(Path::parse_mod_style);
    path.map(Some).map_err(|_| syn::Error::new(at, DEPENDS_ON))
}

/// Reads `as name`, if it is there.
fn alias(step: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Ident>> {
    let Some(token) = input.parse::<Option<Token![as]>>()? else { return Ok(None) };
    if !input.peek(Ident::peek_any) {
        let message = format!("give it a name: `{step} as other_name`");
        return Err(syn::Error::new_spanned(token, message));
    }
    input.parse().map(Some)
}

impl Parse for DependsOn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            let literal: LitStr = input.parse()?;
            return Err(syn::Error::new(
                literal.span(),
                format!("name the step itself, without quotes: `{}`", literal.value()),
            ));
        }
        if !input.peek(Ident::peek_any) && !input.peek(Token![::]) {
            return Err(syn::Error::new(input.span(), DEPENDS_ON));
        }
        let path = path(input)?;
        let last = path.as_ref().and_then(|path| path.segments.last());
        let step = last.map_or_else(|| input.parse(), |last| Ok(last.ident.clone()))?;
        let alias = alias(&step, input)?;
        Ok(Self { step, path, alias })
    }
}
