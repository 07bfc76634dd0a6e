//! `#[data]`: the types that a type holds, where serde's derives need nothing but them.

use quote::ToTokens;
use syn::{Attribute, Data, DeriveInput, Field, Ident, Meta, Type};

use crate::item::is_attr;
use crate::pretty::pretty;

/// A field, and what to call it.
pub struct HeldType<'a> {
    /// Such as ``field `url` of `Page` is `Url` ``.
    pub what: String,
    /// Its type.
    pub ty: &'a Type,
}

/// Options of serde that leave it to the field's type how it is stored.
const PLAIN: [&str; 14] = [
    "alias",
    "content",
    "default",
    "deny_unknown_fields",
    "flatten",
    "other",
    "rename",
    "rename_all",
    "rename_all_fields",
    "skip",
    "skip_serializing_if",
    "tag",
    "untagged",
    "expecting",
];

/// Everything a type holds that is stored, or `None` if the type is generic, or its attributes ask
/// for something that the types of its fields do not tell.
pub fn held(item: &DeriveInput) -> Option<Vec<HeldType<'_>>> {
    if !item.generics.params.is_empty() || !are_plain(&item.attrs) || needs_itself(&item.attrs) {
        return None;
    }
    // It would be another type in a copy.
    if item.to_token_stream().to_string().contains("Self") {
        return None;
    }
    let name = item.ident.to_string();
    let mut all = Vec::new();
    match &item.data {
        Data::Struct(data) => add(&mut all, &name, data.fields.iter())?,
        Data::Enum(data) => {
            for variant in &data.variants {
                if !are_plain(&variant.attrs) {
                    return None;
                }
                add(&mut all, &format!("{name}::{}", variant.ident), variant.fields.iter())?;
            }
        }
        Data::Union(_) => return None,
    }
    Some(all)
}

fn add<'a>(
    all: &mut Vec<HeldType<'a>>,
    owner: &str,
    fields: impl Iterator<Item = &'a Field>,
) -> Option<()> {
    for field in fields {
        if !are_plain(&field.attrs) {
            return None;
        }
        if !options(&field.attrs).any(|option| option == "skip") {
            all.push(HeldType { what: what(owner, field), ty: &field.ty });
        }
    }
    Some(())
}

fn what(owner: &str, field: &Field) -> String {
    let ty = pretty(&field.ty);
    match &field.ident {
        Some(name) => format!("field `{name}` of `{owner}` is `{ty}`"),
        None => format!("`{owner}` holds `{ty}`"),
    }
}

/// Whether no attribute changes what is stored. `schemars` may describe another type instead.
fn are_plain(attrs: &[Attribute]) -> bool {
    let is_unknown =
        |attr: &Attribute| ["cfg", "cfg_attr", "schemars"].iter().any(|name| is_attr(attr, name));
    !attrs.iter().any(is_unknown) && options(attrs).all(|option| PLAIN.contains(&option.as_str()))
}

/// Whether the attributes of a type are about the type itself, not about a copy of it.
fn needs_itself(attrs: &[Attribute]) -> bool {
    options(attrs).any(|option| option == "rename" || option == "default")
}

/// The names of serde's options; an empty one for what cannot be read.
fn options(attrs: &[Attribute]) -> impl Iterator<Item = String> {
    let serde = attrs.iter().filter(|attr| is_attr(attr, "serde"));
    serde.flat_map(|attr| {
        let Meta::List(list) = &attr.meta else { return vec![String::new()] };
        let mut names = Vec::new();
        let read = list.parse_nested_meta(|meta| {
            names.push(meta.path.get_ident().map(Ident::to_string).unwrap_or_default());
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
        if read.is_err() {
            names.push(String::new());
        }
        names
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(item: &str) -> Option<Vec<String>> {
        let item: DeriveInput = syn::parse_str(item).expect("an item");
        held(&item).map(|all| all.into_iter().map(|held| held.what).collect())
    }

    #[test]
    fn names_what_is_stored() {
        let found = names(
            "struct A { b: Vec<u8>, #[serde(default, rename = \"d\")] c: C, #[serde(skip)] e: E }",
        );
        assert_eq!(found.unwrap(), ["field `b` of `A` is `Vec<u8>`", "field `c` of `A` is `C`"]);
        assert_eq!(names("struct A(B);").unwrap(), ["`A` holds `B`"]);
        let found = names("#[serde(tag = \"t\")] enum A { B(C), D { e: E }, F }");
        assert_eq!(found.unwrap(), ["`A::B` holds `C`", "field `e` of `A::D` is `E`"]);
    }

    #[test]
    fn says_nothing_where_more_than_types_matters() {
        for item in [
            "struct A<T>(T);",
            "struct A<'a>(&'a str);",
            "#[serde(into = \"B\")] struct A(u8);",
            "#[serde(transparent)] struct A(u8);",
            "#[serde(rename = \"B\")] struct A(u8);",
            "#[serde(default)] struct A { b: u8 }",
            "struct A(#[serde(with = \"b\")] B);",
            "struct A(#[serde(rename(serialize = \"b\"))] B);",
            "struct A(#[schemars(with = \"u8\")] B);",
            "struct A(#[cfg(test)] B);",
            "struct A { held: Vec<Self> }",
            "struct A { #[serde(default = \"Self::empty\")] held: u8 }",
            "enum A { #[serde(serialize_with = \"b\")] B(C) }",
        ] {
            assert!(names(item).is_none(), "{item}");
        }
    }
}
