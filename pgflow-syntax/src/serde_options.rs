//! `#[serde(…)]`, as far as it matters here.

use proc_macro2::TokenTree;
use syn::{Attribute, LitStr, Meta, Path, Token, token};

use crate::item::is_attr;
use crate::suggest::closest;

/// Reads every `#[serde(name = "value", …)]`. `None` as soon as one of them is not known.
pub(crate) fn options(
    attrs: &[Attribute],
    mut known: impl FnMut(&str, Option<String>) -> bool,
) -> Option<()> {
    if attrs.iter().any(|attr| is_attr(attr, "cfg") || is_attr(attr, "cfg_attr")) {
        return None;
    }
    for attr in attrs.iter().filter(|attr| is_attr(attr, "serde")) {
        let mut is_known = true;
        let read = attr.parse_nested_meta(|meta| {
            let value = if meta.input.peek(Token![=]) {
                Some(meta.value()?.parse::<LitStr>()?.value())
            } else {
                None
            };
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            is_known &= known(&name, value);
            Ok(())
        });
        if read.is_err() || !is_known {
            return None;
        }
    }
    Some(())
}

/// Whether a field is written or read by a function of its own.
pub(crate) fn is_by_function(attrs: &[Attribute]) -> bool {
    const FUNCTIONS: [&str; 3] = ["with", "serialize_with", "deserialize_with"];
    let mut found = false;
    for attr in attrs.iter().filter(|attr| is_attr(attr, "serde")) {
        let Meta::List(list) = &attr.meta else { continue };
        let _ = list.parse_nested_meta(|meta| {
            found |= FUNCTIONS.iter().any(|name| meta.path.is_ident(name));
            if meta.input.peek(Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
    }
    found
}

/// Whether fields that are missing are those of the type's `Default`, and not of what a function makes. `None` if that cannot be read.
pub(crate) fn container_default(attrs: &[Attribute]) -> Option<bool> {
    let mut is_trait = false;
    options(attrs, |name, value| {
        is_trait |= name == "default" && value.is_none();
        true
    })?;
    Some(is_trait)
}

/// The name after `rename = `.
pub(crate) fn renamed(attrs: &[Attribute]) -> Option<String> {
    let mut renamed = None;
    options(attrs, |name, value| {
        if name == "rename" {
            renamed = value;
        }
        true
    })?;
    renamed
}

/// Everything that serde understands, on a type, a variant or a field.
const KNOWN: [&str; 31] = [
    "alias",
    "borrow",
    "bound",
    "content",
    "crate",
    "default",
    "deny_unknown_fields",
    "deserialize_with",
    "expecting",
    "field_identifier",
    "flatten",
    "from",
    "getter",
    "into",
    "non_exhaustive",
    "other",
    "remote",
    "rename",
    "rename_all",
    "rename_all_fields",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "tag",
    "transparent",
    "try_from",
    "untagged",
    "variant_identifier",
    "with",
];

/// An option that serde does not have, and what to say about it.
pub(crate) fn unknown_option(attr: &Attribute) -> Option<(Path, String)> {
    let Meta::List(list) = &attr.meta else { return None };
    let mut unknown = None;
    let _ = list.parse_nested_meta(|meta| {
        let name = meta.path.get_ident().map(ToString::to_string);
        if let Some(name) = name.filter(|name| !KNOWN.contains(&&**name)) {
            unknown.get_or_insert((meta.path.clone(), name));
        }
        if meta.input.peek(Token![=]) {
            meta.value()?.parse::<syn::Expr>()?;
        } else if meta.input.peek(token::Paren) {
            meta.input.parse::<TokenTree>()?;
        }
        Ok(())
    });
    let (path, name) = unknown?;
    let near = closest(&name, KNOWN);
    let help = near.map_or(String::new(), |near| format!("\nhelp: did you mean `{near}`?"));
    Some((path, format!("serde has no option `{name}`{help}")))
}
