//! `#[data]`: which fields a struct has in JSON, as far as its attributes tell.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Field, Fields, LitStr, Path, Token, Type};

use crate::args::{crate_path, each_option};
use crate::errors::Errors;
use crate::item::is_attr;
use crate::value::boolean;

/// What `#[data(…)]` said.
pub struct DataArgs {
    /// Whether `JsonSchema` is derived too.
    pub has_schema: bool,
    /// Where `pgflow` is, if it is not `::pgflow`.
    pub crate_path: Option<Path>,
}

impl DataArgs {
    /// Reads the arguments.
    pub fn read(args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut out = Self { has_schema: true, crate_path: None };
        each_option(args, &["schema", "crate"], errors, |name, args| {
            if name == "crate" {
                out.crate_path = Some(crate_path(args, name)?);
            } else {
                out.has_schema = boolean(args, name)?;
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// A struct's fields under their names in JSON, or `None` where that cannot be told.
///
/// A wrong list would refuse correct patterns, so anything unusual is a `None`.
pub fn stored_fields(item: &DeriveInput) -> Option<Vec<(String, &Type)>> {
    let Data::Struct(data) = &item.data else { return None };
    let Fields::Named(fields) = &data.fields else { return None };
    let rename_all = container(&item.attrs)?;
    let mut stored = Vec::new();
    for field in &fields.named {
        if let Some(name) = field_name(field, &rename_all)? {
            stored.push((name, &field.ty));
        }
    }
    Some(stored)
}

/// The rule of `rename_all`, empty if there is none.
fn container(attrs: &[Attribute]) -> Option<String> {
    let mut rename_all = String::new();
    options(attrs, |name, value| match (name, value) {
        ("rename_all", Some(rule)) => {
            rename_all = rule;
            true
        }
        ("default" | "deny_unknown_fields" | "bound" | "rename" | "crate" | "expecting", _) => true,
        _ => false,
    })?;
    Some(rename_all)
}

/// A field's name in JSON, or nothing if it is never there.
#[expect(clippy::option_option, reason = "`None` is \"cannot be told\", as everywhere here")]
fn field_name(field: &Field, rename_all: &str) -> Option<Option<String>> {
    let (mut renamed, mut is_skipped) = (None, false);
    options(&field.attrs, |name, value| match (name, value) {
        ("rename", Some(name)) => {
            renamed = Some(name);
            true
        }
        ("skip" | "skip_serializing", None) => {
            is_skipped = true;
            true
        }
        ("default" | "skip_serializing_if" | "bound", _) => true,
        _ => false,
    })?;
    if is_skipped {
        return Some(None);
    }
    let ident = field.ident.as_ref()?.unraw().to_string();
    Some(Some(match renamed {
        Some(name) => name,
        None => in_case(&ident, rename_all)?,
    }))
}

/// Reads every `#[serde(name = "value", …)]`. `None` as soon as one of them is not known.
fn options(attrs: &[Attribute], mut known: impl FnMut(&str, Option<String>) -> bool) -> Option<()> {
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

fn in_case(name: &str, rule: &str) -> Option<String> {
    let pascal = || {
        let words = name.split('_');
        words.map(|word| {
            word.get(..1).unwrap_or("").to_ascii_uppercase() + word.get(1..).unwrap_or("")
        })
    };
    Some(match rule {
        "" | "snake_case" | "lowercase" => name.to_owned(),
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => name.to_ascii_uppercase(),
        "kebab-case" => name.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => name.to_ascii_uppercase().replace('_', "-"),
        "PascalCase" => pascal().collect(),
        "camelCase" => {
            let name: String = pascal().collect();
            name.get(..1)?.to_ascii_lowercase() + name.get(1..)?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(item: &str) -> Option<Vec<String>> {
        let item: DeriveInput = syn::parse_str(item).expect("an item");
        stored_fields(&item).map(|fields| fields.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn follows_renames_and_skips() {
        let item = r#"
            #[serde(rename_all = "camelCase")]
            struct User {
                first_name: String,
                #[serde(rename = "e-mail")] email: String,
                #[serde(skip)] cache: u32,
                #[serde(default, skip_serializing_if = "Option::is_none")] r#type: Option<u8>,
            }"#;
        assert_eq!(fields(item), Some(["firstName", "e-mail", "type"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn says_nothing_where_serde_does_something_else() {
        for item in [
            "enum A { B }",
            "struct A(u32);",
            "#[serde(transparent)] struct A { b: u32 }",
            "#[serde(tag = \"t\")] struct A { b: u32 }",
            "#[serde(into = \"B\")] struct A { b: u32 }",
            "#[serde(rename_all(serialize = \"camelCase\"))] struct A { b: u32 }",
            "struct A { #[serde(flatten)] b: B }",
            "struct A { #[serde(alias = \"c\")] b: u32 }",
            "struct A { #[cfg(test)] b: u32 }",
        ] {
            assert_eq!(fields(item), None, "{item}");
        }
    }
}
