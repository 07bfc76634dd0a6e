//! `#[data]`: the types that a type holds, where serde's derives need nothing but them.

use proc_macro2::{TokenStream, TokenTree};
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
    /// It is left out where the type is stored, and made anew where it is read.
    pub is_skipped: bool,
}

/// What a generic type holds that has nothing to do with its parameters.
pub struct HeldBeside<'a> {
    /// The fields, at least one.
    pub held: Vec<HeldType<'a>>,
    /// The parameters that other fields mention.
    pub parameters: Vec<&'a Ident>,
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
    if item.generics.params.is_empty() { fields(item) } else { None }
}

/// Of a generic type, the fields that can be checked before its parameters are known; `None` if there are none, or serde has to be
/// told more about the parameters than that they can be stored.
pub fn held_beside(item: &DeriveInput) -> Option<HeldBeside<'_>> {
    let all = fields(item)?;
    if item.generics.lifetimes().next().is_some() || all.iter().any(|held| held.is_skipped) {
        return None;
    }
    let of_item: Vec<_> = item.generics.type_params().map(|param| &param.ident).collect();
    let constants: Vec<_> = item.generics.const_params().map(|param| &param.ident).collect();
    let mut beside = HeldBeside { held: Vec::new(), parameters: Vec::new() };
    for field in all {
        let words = words(field.ty.to_token_stream());
        let is_mentioned = |name: &&Ident| words.iter().any(|word| **name == *word);
        let mentioned: Vec<_> = of_item.iter().copied().filter(is_mentioned).collect();
        if words.iter().any(|word| word == "PhantomData") || has_associated(field.ty, &mentioned) {
            return None;
        }
        if mentioned.is_empty() && !constants.iter().any(is_mentioned) {
            beside.held.push(field);
        }
        beside.parameters.extend(mentioned);
    }
    beside.parameters.sort_unstable();
    beside.parameters.dedup();
    (!beside.held.is_empty()).then_some(beside)
}

/// Every name in it.
fn words(tokens: TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => found.push(word),
            TokenTree::Group(group) => found.extend(words(group.stream())),
            _ => {}
        }
    }
    found
}

/// Whether it is, or holds, something like `T::Item`.
fn has_associated(ty: &Type, parameters: &[&Ident]) -> bool {
    let text = pretty(ty);
    text.contains(" as ") || parameters.iter().any(|name| text.contains(&format!("{name}::")))
}

fn fields(item: &DeriveInput) -> Option<Vec<HeldType<'_>>> {
    if !are_plain(&item.attrs) || needs_itself(&item.attrs) {
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
        let has = |word: &str| options(&field.attrs).any(|option| option == word);
        let is_skipped = has("skip");
        if !is_skipped || !has("default") {
            all.push(HeldType { what: what(owner, field), ty: &field.ty, is_skipped });
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
        let fields =
            ["field `b` of `A` is `Vec<u8>`", "field `c` of `A` is `C`", "field `e` of `A` is `E`"];
        assert_eq!(found.unwrap(), fields);
        assert_eq!(names("struct A(#[serde(skip, default = \"b\")] B);").unwrap(), [""; 0]);
        assert_eq!(names("struct A(B);").unwrap(), ["`A` holds `B`"]);
        let found = names("#[serde(tag = \"t\")] enum A { B(C), D { e: E }, F }");
        assert_eq!(found.unwrap(), ["`A::B` holds `C`", "field `e` of `A::D` is `E`"]);
    }

    fn beside(item: &str) -> Option<(Vec<String>, Vec<String>)> {
        let item: DeriveInput = syn::parse_str(item).expect("an item");
        let found = held_beside(&item)?;
        let held = found.held.into_iter().map(|held| held.what).collect();
        Some((held, found.parameters.iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn of_a_generic_type_it_names_what_its_parameters_do_not_change() {
        let (held, parameters) = beside(
            "struct A<T, U, const N: usize> { a: T, b: Vec<u8>, c: Option<(T, B)>, d: [u8; N] }",
        )
        .expect("a field");
        assert_eq!(
            (held, parameters),
            (vec!["field `b` of `A` is `Vec<u8>`".to_owned()], vec!["T".to_owned()])
        );
        for item in [
            "struct A<T>(T);",
            "struct A<'a>(&'a str, u8);",
            "struct A<T>(T::Item, u8);",
            "struct A<T>(<T as B>::Item, u8);",
            "struct A<T>(PhantomData<T>, u8);",
            "struct A<T>(T, u8, #[serde(skip)] B);",
            "struct A<T>(T, #[serde(with = \"b\")] B);",
            "#[serde(bound = \"\")] struct A<T>(T, u8);",
        ] {
            assert!(beside(item).is_none(), "{item}");
        }
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
