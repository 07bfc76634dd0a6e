//! Arguments of `#[job(…)]` and `#[need(…)]`.

use pgflow_model::OptionRule;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Meta, Path, Token};

use super::NeedOptions;
use crate::args::{crate_path, each_option, flag};
use crate::errors::Errors;
use crate::options::number_of;
use crate::permits::Permits;
use crate::value::value;

/// What a capability may be at most, in bytes.
const CAPABILITY_BYTES: usize = 128;

const RULES: [OptionRule; 3] = [
    OptionRule { name: "lease", min: 1, is_duration: true },
    OptionRule { name: "max_attempts", min: 1, is_duration: false },
    OptionRule { name: "base_delay", min: 0, is_duration: true },
];

/// What `#[job(…)]` said.
#[derive(Default)]
pub(super) struct JobArgs {
    pub(super) name: Option<LitStr>,
    pub(super) crate_path: Option<Path>,
}

impl JobArgs {
    const KNOWN: &'static [&'static str] = &["name", "crate"];

    pub(super) fn read(args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut out = Self::default();
        each_option(args, Self::KNOWN, errors, |name, args| {
            if name == "crate" {
                out.crate_path = Some(crate_path(args, name)?);
            } else {
                let wanted = "`name` is a text in quotes, such as `name = \"invoice\"`";
                out.name = Some(checked(value(args, name, wanted)?)?);
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// What `#[need(…)]` said.
#[derive(Default)]
pub(super) struct NeedArgs {
    pub(super) capability: Option<LitStr>,
    pub(super) external: Option<Ident>,
    pub(super) options: NeedOptions,
    pub(super) permits: Permits,
}

impl NeedArgs {
    const KNOWN: &'static [&'static str] =
        &["external", "lease", "max_attempts", "base_delay", "resources", "rate"];

    pub(super) fn read(marker: &Attribute, errors: &mut Errors) -> Self {
        let mut out = Self::default();
        let result = match &marker.meta {
            Meta::Path(_) => Ok(()),
            Meta::List(list) => {
                list.parse_args_with(|args: ParseStream<'_>| out.parse(args, errors))
            }
            Meta::NameValue(meta) => Err(syn::Error::new_spanned(
                meta,
                "options go in parentheses: `#[need(\"human.review\", lease = \"5m\")]`",
            )),
        };
        errors.keep(result);
        out
    }

    /// Reads `"capability"`, if it is there, and options after it.
    fn parse(&mut self, args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        if args.peek(LitStr) {
            self.capability = errors.keep(args.parse().and_then(checked));
            if args.is_empty() {
                return Ok(());
            }
            args.parse::<Token![,]>()?;
        }
        each_option(args, Self::KNOWN, errors, |name, args| self.option(name, args))
    }

    fn option(&mut self, name: &Ident, args: ParseStream<'_>) -> syn::Result<()> {
        if self.permits.option(name, args)? {
            return Ok(());
        }
        let word = name.to_string();
        let NeedOptions { lease, max_attempts, base_delay } = &mut self.options;
        let place = match word.as_str() {
            "external" => {
                self.external = Some(flag(args, name)?);
                return Ok(());
            }
            "lease" => lease,
            "max_attempts" => max_attempts,
            _ => base_delay,
        };
        let rule = RULES.into_iter().find(|rule| rule.name == word);
        let rule = rule.ok_or_else(|| syn::Error::new(name.span(), "there is no such option"))?;
        *place = Some(number_of(args, name, rule)?);
        Ok(())
    }
}

/// A capability, or the beginning of some, that any database can store.
fn checked(literal: LitStr) -> syn::Result<LitStr> {
    let text = literal.value();
    let why = if text.is_empty() {
        "it is empty"
    } else if text.len() > CAPABILITY_BYTES {
        "it has more than 128 bytes"
    } else if text.contains(char::is_control) {
        "it has a control character"
    } else if text.trim() != text {
        "it begins or ends with a space"
    } else {
        return Ok(literal);
    };
    let message = format!("{text:?} cannot be the name of a capability: {why}");
    Err(syn::Error::new(literal.span(), message))
}
