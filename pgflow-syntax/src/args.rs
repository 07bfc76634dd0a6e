//! Arguments of `#[flow(…)]` and `#[step(…)]`.

use std::collections::HashSet;

use pgflow_model::{OPTIONS, OnSkip, StepOptions, flow_options};
use proc_macro2::TokenTree;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitInt, LitStr, Meta, Path, Token, Type, bracketed, token};

use crate::errors::Errors;
use crate::options;
use crate::owned::{has_reference, is_punct, owned_type};
use crate::pattern::ConditionArg;
use crate::permits::Permits;
use crate::pretty::pretty;
use crate::schedule::{self, ScheduleArgs};
use crate::suggest::closest;
use crate::value::{boolean, equals, up_to_comma, value, wrong_value};

const INPUT: &str = "`input` is a type: `input = Signup`";
const DEPENDS_ON: &str = "`depends_on` is a list of steps: `depends_on = [fetch_user]`";

const VERSION: &str = "`version` is the number of a version in `pgflow.lock`, from 1";
const FORMAT: &str = "`format` is the number of the form in which runs store their data, from 1";

/// What `#[flow(…)]` said.
#[derive(Default)]
pub(crate) struct FlowArgs {
    pub(crate) input: Option<(Ident, Type)>,
    /// There is an input, but what is written cannot be one. Nobody knows what steps are to take.
    pub(crate) has_wrong_input: bool,
    pub(crate) slug: Option<LitStr>,
    pub(crate) options: StepOptions,
    pub(crate) has_no_schema: bool,
    pub(crate) crate_path: Option<Path>,
    pub(crate) version: Option<LitInt>,
    pub(crate) format: Option<LitInt>,
    pub(crate) schedule: ScheduleArgs,
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
    /// The word, where it is said how long it waits.
    pub(crate) wait_timeout: Option<Ident>,
    pub(crate) was: Option<LitStr>,
    pub(crate) permits: Permits,
}

/// `fetch_user`, or `fetch_user as user`.
pub(crate) struct DependsOn {
    pub(crate) step: Ident,
    /// The whole of `other_flow::step`, which is not allowed; `step` is its last name.
    pub(crate) path: Option<Path>,
    pub(crate) alias: Option<Ident>,
}

/// The options of `#[flow(…)]`.
pub fn flow_words() -> Vec<&'static str> {
    let words = ["input", "slug"].into_iter().chain(flow_options());
    let words = words.chain(["schema", "crate", "version", "format"]);
    words.chain(schedule::OPTIONS).collect()
}

/// The options of `#[step(…)]`.
pub fn step_words() -> Vec<&'static str> {
    let numbers = OPTIONS.iter().map(|rule| rule.name);
    let words = ["depends_on", "map", "slug"].into_iter().chain(numbers);
    let words = words.chain(["only_if", "unless", "when_unmet", "when_exhausted", "was"]);
    words.chain(["resources", "rate"]).collect()
}

impl FlowArgs {
    pub(crate) fn read(args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut out = Self { has_wrong_input: report_bare_input(args, errors)?, ..Self::default() };
        each_option(args, &flow_words(), errors, |name, args| {
            match name.to_string().as_str() {
                "input" => {
                    out.has_wrong_input = true;
                    out.input = Some((name.clone(), input_type(args, name)?));
                    out.has_wrong_input = false;
                }
                "slug" => out.slug = Some(options::flow_slug(args, name)?),
                "schema" => out.has_no_schema = !boolean(args, name)?,
                "crate" => out.crate_path = Some(crate_path(args, name)?),
                "version" => out.version = Some(options::from_one(args, name, VERSION)?),
                "format" => out.format = Some(options::from_one(args, name, FORMAT)?),
                word if schedule::OPTIONS.contains(&word) => out.schedule.option(name, args)?,
                _ => options::number(args, name, &mut out.options)?,
            }
            Ok(())
        })?;
        Ok(out)
    }
}

impl StepArgs {
    pub(crate) fn read(marker: &Attribute, errors: &mut Errors) -> Self {
        let mut out = Self::default();
        let result = match &marker.meta {
            Meta::Path(_) => Ok(()),
            Meta::List(list) => list.parse_args_with(|args: ParseStream<'_>| {
                each_option(args, &step_words(), errors, |name, args| out.option(name, args))
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
        if self.permits.option(name, args)? {
            return Ok(());
        }
        match name.to_string().as_str() {
            "depends_on" => self.depends_on = depends_on(args, name)?,
            "map" => self.map = Some(flag(args, name)?),
            "slug" => self.slug = Some(options::step_slug(args, name)?),
            "was" => self.was = Some(options::step_slug(args, name)?),
            "only_if" => self.only_if = Some(ConditionArg::read(args, name)?),
            "unless" => self.unless = Some(ConditionArg::read(args, name)?),
            "when_unmet" => self.when_unmet = Some((name.clone(), options::on_skip(args, name)?)),
            "when_exhausted" => self.when_exhausted = Some(options::on_skip(args, name)?),
            _ => {
                options::number(args, name, &mut self.options)?;
                self.wait_timeout =
                    self.wait_timeout.take().or((name == "wait_timeout").then(|| name.clone()));
            }
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
        if let Some(comma) = args.parse::<Option<Token![,]>>()? {
            errors.at(comma, "there is no option before this `,`");
            continue;
        }
        let Ok(name) = args.call(Ident::parse_any) else {
            errors.keep(Err::<(), _>(nameless(args, known)?));
            continue;
        };
        let result = if !known.contains(&name.to_string().as_str()) {
            Err(unknown_option(&name, known))
        } else if !seen.insert(name.to_string()) {
            Err(syn::Error::new(name.span(), format!("`{name}` is given more than once")))
        } else {
            // In a fork, or what a wrong value leaves unread would be reported once more.
            let fork = args.fork();
            read(&name, &fork).map(|()| args.advance_to(&fork))
        };
        let result = result.map_err(|why| semicolon(&args.fork()).unwrap_or(why));
        if errors.keep(result).is_none() {
            up_to_comma(args)?;
            skip_names(args, known)?;
        }
        if !args.is_empty() {
            comma(args)?;
        }
    }
    Ok(())
}

/// A value where the name of an option should be, which is passed over with its `,`.
fn nameless(args: ParseStream<'_>, known: &[&str]) -> syn::Result<syn::Error> {
    let slug = args.fork().parse::<LitStr>().ok().filter(|_| known.contains(&"slug"));
    let help = slug.map(|slug| format!("\nhelp: write `slug = {:?}`", slug.value()));
    let message = "this has no name: options are written `name = value`".to_owned();
    let error = syn::Error::new_spanned(up_to_comma(args)?, message + &help.unwrap_or_default());
    args.parse::<Option<Token![,]>>()?;
    Ok(error)
}

/// A `;` after an option is what is wrong with it, whatever its value was taken for.
fn semicolon(args: ParseStream<'_>) -> Option<syn::Error> {
    let mut value = up_to_comma(args).ok()?.into_iter();
    let semicolon = value.find(|token| is_punct(token, ';'))?;
    Some(syn::Error::new_spanned(semicolon, "options are separated by `,`"))
}

fn comma(args: ParseStream<'_>) -> syn::Result<()> {
    if args.peek(Token![&&]) {
        let and = args.parse::<Token![&&]>()?;
        return Err(syn::Error::new_spanned(and, "options are separated by `,`"));
    }
    let at = args.span();
    let word = args.fork().call(Ident::parse_any).map(|word| format!(" before `{word}`"));
    let message = format!("a `,` is missing{}", word.unwrap_or_default());
    args.parse::<Token![,]>().map(drop).map_err(|_| syn::Error::new(at, message))
}

/// Passes over the input of `#[flow(Signup)]`, which lacks its word.
fn report_bare_input(args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<bool> {
    let fork = args.fork();
    let Ok(ty) = fork.parse::<Type>() else { return Ok(false) };
    let text = pretty(&ty);
    let is_alone = fork.is_empty() || fork.peek(Token![,]);
    if !is_alone || !text.starts_with(|first: char| first.is_uppercase()) {
        return Ok(false);
    }
    errors
        .at(&ty, format!("the input of a flow goes after its word\nhelp: write `input = {text}`"));
    args.advance_to(&fork);
    args.parse::<Option<Token![,]>>()?;
    Ok(true)
}

/// Reads `= Type`: one that has a name, and owns its data.
fn input_type(args: ParseStream<'_>, name: &Ident) -> syn::Result<Type> {
    if let Ok(literal) = quoted(&args.fork()) {
        let text = literal.value();
        let help = syn::parse_str::<Type>(&text).map(|_| format!("\nhelp: write `input = {text}`"));
        let message = format!("`input` is a type, without quotes{}", help.unwrap_or_default());
        return Err(syn::Error::new(literal.span(), message));
    }
    let ty = value(args, name, INPUT)?;
    match &ty {
        _ if has_reference(&ty) => {
            let help = owned_type(&ty).map(|owned| format!("\nhelp: write `input = {owned}`"));
            let message = "a run's input is stored and read back, so it must own its data";
            Err(syn::Error::new_spanned(&ty, message.to_owned() + &help.unwrap_or_default()))
        }
        Type::ImplTrait(_) | Type::TraitObject(_) | Type::Infer(_) => {
            Err(syn::Error::new_spanned(&ty, format!("{INPUT}, one that all steps know by name")))
        }
        _ => Ok(ty),
    }
}

fn quoted(args: ParseStream<'_>) -> syn::Result<LitStr> {
    args.parse::<Token![=]>()?;
    args.parse()
}

/// Reads `= ::renamed`. It is used inside the module and outside, so it cannot be relative.
pub(crate) fn crate_path(args: ParseStream<'_>, name: &Ident) -> syn::Result<Path> {
    const WANTED: &str =
        "`crate` is a path from a crate: `crate = renamed`, or `crate = crate::reexport::pgflow`";
    equals(args, name, WANTED)?;
    let whole = args.fork();
    let path = args.call(Path::parse_mod_style).map_err(|_| wrong_value(&whole, WANTED))?;
    match path.segments.first() {
        Some(first) if first.ident == "self" || first.ident == "super" => {
            Err(syn::Error::new_spanned(&path, WANTED))
        }
        _ => Ok(path),
    }
}

/// An option without a value.
pub(crate) fn flag(args: ParseStream<'_>, name: &Ident) -> syn::Result<Ident> {
    if args.is_empty() || args.peek(Token![,]) {
        return Ok(name.clone());
    }
    let message = match mapped_over(args).filter(|_| name == "map") {
        Some(step) => format!(
            "`map` takes no value: it maps over its dependency\nhelp: write `map, depends_on = [{step}]`"
        ),
        None => format!("`{name}` takes no value: write `{name}` alone"),
    };
    let value = up_to_comma(args)?;
    Err(syn::Error::new_spanned(quote!(#name #value), message))
}

/// The step in `= step`, `= [step]` or `(step)`, unless `depends_on` is said as well.
fn mapped_over(args: ParseStream<'_>) -> Option<Ident> {
    let rest = args.fork();
    let _ = rest.parse::<Option<Token![=]>>();
    let step: Ident = match rest.parse().ok()? {
        TokenTree::Ident(word) if word == "true" || word == "false" => return None,
        TokenTree::Ident(step) => step,
        TokenTree::Group(group) => syn::parse2(group.stream()).ok()?,
        _ => return None,
    };
    let others: proc_macro2::TokenStream = rest.parse().ok()?;
    let is_said =
        others.into_iter().any(|it| matches!(it, TokenTree::Ident(it) if it == "depends_on"));
    (!is_said).then_some(step)
}

/// What other libraries call it.
const OTHER_WORDS: [(&str, &str); 22] = [
    ("retries", "max_attempts"),
    ("retry", "max_attempts"),
    ("attempts", "max_attempts"),
    ("max_retries", "max_attempts"),
    ("retry_limit", "max_attempts"),
    ("backoff", "base_delay"),
    ("retry_delay", "base_delay"),
    ("delay", "start_delay"),
    ("deps", "depends_on"),
    ("after", "depends_on"),
    ("needs", "depends_on"),
    ("name", "slug"),
    ("id", "slug"),
    ("if", "only_if"),
    ("skip_if", "unless"),
    ("when", "only_if"),
    ("condition", "only_if"),
    ("on_error", "when_exhausted"),
    ("timeout", "lease"),
    ("for_each", "map"),
    ("foreach", "map"),
    ("each", "map"),
];

/// Options of `#[data]`.
pub(crate) const DATA: [&str; 2] = ["schema", "crate"];

/// What serde has to be told itself.
const OF_SERDE: [&str; 9] = [
    "rename_all",
    "rename",
    "tag",
    "content",
    "untagged",
    "default",
    "deny_unknown_fields",
    "transparent",
    "rename_all_fields",
];

fn unknown_option(name: &Ident, known: &[&str]) -> syn::Error {
    let word = name.to_string();
    let other = OTHER_WORDS.iter().find(|(other, ours)| *other == word && known.contains(ours));
    let help = match (other, closest(&word, known.iter().copied())) {
        _ if word == "no_schema" && known.contains(&"schema") => {
            "write `schema = false`".to_owned()
        }
        (Some((_, ours)), _) => format!("it is called `{ours}` here"),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => elsewhere(&word, known)
            .unwrap_or_else(|| format!("the options are `{}`", known.join("`, `"))),
    };
    syn::Error::new(name.span(), format!("there is no option `{name}` here\nhelp: {help}"))
}

/// What a need is called in other libraries: here it is its first value.
const NAMES_OF_NEEDS: [&str; 3] = ["name", "id", "capability"];

/// Where an option goes that was given in the wrong place. Jobs, which have no slug, have neither flow nor steps.
fn elsewhere(word: &str, known: &[&str]) -> Option<String> {
    if known == DATA && OF_SERDE.contains(&word) {
        return Some(format!("it is an option of serde: `#[serde({word} …)]`"));
    }
    if known == DATA && word.starts_with(char::is_uppercase) {
        return Some(format!("other traits are derived beside it: `#[derive({word})]`"));
    }
    if known.contains(&"external") && NAMES_OF_NEEDS.contains(&word) {
        return Some("its capability comes first, alone: `#[need(\"human.review\")]`".to_owned());
    }
    if !known.contains(&"slug") {
        return None;
    }
    if flow_words().contains(&word) {
        return Some(format!("it is an option of the flow: `#[flow({word} = …)]`"));
    }
    step_words().contains(&word).then(|| format!("it is an option of steps: `#[step({word} …)]`"))
}

/// Passes over names without a value: they belong to the option before them, which is wrong already.
fn skip_names(args: ParseStream<'_>, known: &[&str]) -> syn::Result<()> {
    loop {
        let fork = args.fork();
        let name = fork.parse::<Token![,]>().and_then(|_| fork.call(Ident::parse_any));
        let is_name = name.is_ok_and(|name| !known.iter().any(|known| name == known));
        if !is_name || !(fork.is_empty() || fork.peek(Token![,])) {
            return Ok(());
        }
        args.advance_to(&fork);
    }
}

/// Reads `= step`, or `= [step, other as name]`.
fn depends_on(args: ParseStream<'_>, name: &Ident) -> syn::Result<Vec<DependsOn>> {
    equals(args, name, DEPENDS_ON)?;
    if !args.peek(token::Bracket) {
        return one_dependency(args);
    }
    let list;
    bracketed!(list in args);
    let mut all = Vec::new();
    while !list.is_empty() {
        all.push(list.parse()?);
        no_field(&list, all.last())?;
        if !list.is_empty() {
            comma(&list)?;
        }
    }
    Ok(all)
}

/// `run.stops` or `fetch.user`: a dependency is a whole step.
fn no_field(list: ParseStream<'_>, dep: Option<&DependsOn>) -> syn::Result<()> {
    let Some(DependsOn { step, .. }) = dep.filter(|_| list.peek(Token![.])) else { return Ok(()) };
    let (dot, field) = (list.parse::<Token![.]>()?, list.parse::<TokenTree>()?);
    let how = if step == "run" {
        "the run's input is there for every step: take it as `run`"
    } else {
        "a dependency's output is taken whole"
    };
    let message = format!("`{step}.{field}` is a field, and a step depends on steps: {how}");
    Err(syn::Error::new_spanned(quote!(#step #dot #field), message))
}

/// Reads `step`. A second name after it belongs into a list, if it is no option.
fn one_dependency(args: ParseStream<'_>) -> syn::Result<Vec<DependsOn>> {
    let first: DependsOn = args.parse()?;
    if args.peek(Token![!]) {
        let (name, list) = (&first.step, up_to_comma(args)?);
        return Err(syn::Error::new_spanned(quote!(#name #list), DEPENDS_ON));
    }
    let fork = args.fork();
    let next = fork.parse::<Token![,]>().and_then(|_| fork.call(Ident::parse_any));
    if let Ok(next) = next
        && !step_words().iter().any(|known| next == *known)
        && (fork.is_empty() || fork.peek(Token![,]))
    {
        let step = &first.step;
        let message =
            format!("several dependencies are a list\nhelp: write `depends_on = [{step}, {next}]`");
        return Err(syn::Error::new(next.span(), message));
    }
    Ok(vec![first])
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
        let Ok(other) = input.fork().parse::<LitStr>() else {
            let message = format!("give it a name: `{step} as other_name`");
            return Err(syn::Error::new_spanned(token, message));
        };
        let message = format!("a name has no quotes: `{step} as {}`", other.value());
        return Err(syn::Error::new(other.span(), message));
    }
    input.parse().map(Some)
}

/// `name: step`, as fields of a struct are given another name.
fn no_colon(name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if !input.peek(Token![:]) {
        return Ok(());
    }
    let (colon, step) = (input.parse::<Token![:]>()?, input.parse::<Ident>()?);
    let message = format!("another name comes after its step\nhelp: write `{step} as {name}`");
    Err(syn::Error::new_spanned(quote!(#name #colon #step), message))
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
            let found = input.fork().parse::<TokenTree>();
            return Err(match found {
                Ok(found) => syn::Error::new_spanned(found, DEPENDS_ON),
                Err(_) => syn::Error::new(input.span(), DEPENDS_ON),
            });
        }
        let path = path(input)?;
        let last = path.as_ref().and_then(|path| path.segments.last());
        let step = last.map_or_else(|| input.parse(), |last| Ok(last.ident.clone()))?;
        if input.peek(token::Paren) {
            let call: TokenTree = input.parse()?;
            let message = format!("a step is named, not called: `{step}`");
            return Err(syn::Error::new_spanned(call, message));
        }
        no_colon(&step, input)?;
        let alias = alias(&step, input)?;
        Ok(Self { step, path, alias })
    }
}
