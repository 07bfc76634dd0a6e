//! `#[data]`: the types that a type holds, where serde's derives need nothing but them.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Data, DeriveInput, Field, Ident, Meta, Type, parse_quote};

use crate::item::is_attr;
use crate::pretty::pretty;
use crate::serde_options::{container_default, is_by_function, renamed};

/// A field, and what to call it.
pub struct HeldType<'a> {
    /// Such as ``field `url` of `Page` is `Url` ``.
    pub what: String,
    /// Its type.
    pub ty: &'a Type,
    /// It is left out where the type is stored, and made anew where it is read.
    pub is_skipped: bool,
    /// Where it is stored.
    pub place: Place,
}

/// Where the value of a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a place of its own.
    Own,
    /// Among the fields of what holds it: `flatten`.
    Flattened,
    /// Beside the name of its variant: the only value of a variant of an `enum` with a `tag`.
    Tagged,
}

/// Everything that a type holds.
pub struct Held<'a> {
    /// Its fields.
    pub all: Vec<HeldType<'a>>,
    /// The type itself, if fields that are missing are those of its default.
    pub defaulted: Option<Type>,
    /// What it is called in its schema.
    pub name: String,
}

/// What a type holds that can be checked where the derives are on the type itself.
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

/// Options of a type with which something else is stored than its fields.
const OTHERS: [&str; 4] = ["from", "into", "try_from", "remote"];

/// Options of a field that is not stored, or not read back.
const ONE_WAY: [&str; 2] = ["skip_serializing", "skip_deserializing"];

/// Everything a type holds that is stored, or `None` if the type is generic, or its attributes ask
/// for something that the types of its fields do not tell.
pub fn held(item: &DeriveInput) -> Option<Held<'_>> {
    if !item.generics.params.is_empty() || has(&item.attrs, "transparent") {
        return None;
    }
    let (ident, mut name) = (&item.ident, item.ident.to_string());
    if has(&item.attrs, "rename") {
        name = renamed(&item.attrs)?;
    }
    let is_struct = matches!(item.data, Data::Struct(_));
    let defaulted = match has(&item.attrs, "default") {
        true if !is_struct => return None,
        true => container_default(&item.attrs)?.then(|| parse_quote!(#ident)),
        false => None,
    };
    Some(Held { all: fields(item)?.stored, defaulted, name })
}

/// Of a type whose derives have to be on the type itself, the fields that can be checked before: of a generic one, those without its
/// parameters. `None` if there are none, or serde has to be told more about the parameters than that they can be stored.
pub fn held_beside(item: &DeriveInput) -> Option<HeldBeside<'_>> {
    let is_transparent = has(&item.attrs, "transparent");
    if item.generics.params.is_empty() && !is_transparent || needs_itself(&item.attrs) {
        return None;
    }
    let Fields { stored: all, is_all } = fields(item)?;
    let has_skipped = all.iter().any(|held| held.is_skipped);
    if item.generics.lifetimes().next().is_some() || has_skipped || !is_all {
        return None;
    }
    let of_item: Vec<_> = item.generics.type_params().map(|param| &param.ident).collect();
    let constants: Vec<_> = item.generics.const_params().map(|param| &param.ident).collect();
    let mut beside = HeldBeside { held: Vec::new(), parameters: Vec::new() };
    for field in all {
        let words = words(field.ty.to_token_stream());
        let is_mentioned = |name: &&Ident| words.iter().any(|word| **name == *word);
        let mentioned: Vec<_> = of_item.iter().copied().filter(is_mentioned).collect();
        let is_special = |word: &Ident| word == "PhantomData" || word == "Self";
        // Of a type that holds itself, the compiler would ask whether it can be stored if it can be stored.
        let holds_itself = words.contains(&item.ident);
        if words.iter().any(is_special) || holds_itself || has_associated(field.ty, &mentioned) {
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

/// The fields that are stored as their types say, whatever else the type's attributes ask for: those whose types have all traits, and
/// cannot be stored nevertheless, are wrong all the same.
pub fn held_at_least(item: &DeriveInput) -> Vec<HeldType<'_>> {
    if OTHERS.iter().any(|name| has(&item.attrs, name)) {
        return Vec::new();
    }
    let generics = item.generics.params.iter().map(|param| match param {
        syn::GenericParam::Type(param) => param.ident.clone(),
        syn::GenericParam::Const(param) => param.ident.clone(),
        syn::GenericParam::Lifetime(param) => param.lifetime.ident.clone(),
    });
    let generics: Vec<_> = generics.collect();
    let mut fields = Fields::default();
    each_field(item, |owner, place, field| {
        let _ = fields.add(owner, place, field);
    });
    fields.stored.retain(|held| {
        let words = words(held.ty.to_token_stream());
        !held.is_skipped && !words.iter().any(|word| word == "Self" || generics.contains(word))
    });
    fields.stored
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

/// The fields of a type that are stored as their types say.
#[derive(Default)]
struct Fields<'a> {
    stored: Vec<HeldType<'a>>,
    /// Whether there are no others.
    is_all: bool,
}

impl<'a> Fields<'a> {
    /// `None` for a field with an attribute that is not known.
    fn add(&mut self, owner: &str, place: Place, field: &'a Field) -> Option<()> {
        if is_attr_in(&field.attrs, &["cfg", "cfg_attr"]) {
            return None;
        }
        let options: Vec<_> = options(&field.attrs).collect();
        let has = |word: &str| options.iter().any(|option| option == word);
        if is_by_function(&field.attrs) || ONE_WAY.into_iter().any(has) {
            self.is_all = false;
            return Some(());
        }
        if !are_plain(&field.attrs) {
            return None;
        }
        let is_skipped = has("skip");
        if !is_skipped || !has("default") {
            let place = if has("flatten") { Place::Flattened } else { place };
            self.stored.push(HeldType {
                what: what(owner, field),
                ty: &field.ty,
                is_skipped,
                place,
            });
        }
        Some(())
    }
}

fn fields(item: &DeriveInput) -> Option<Fields<'_>> {
    let of_type = |option: String| option == "transparent" || PLAIN.contains(&option.as_str());
    if is_attr_in(&item.attrs, &UNKNOWN) || !options(&item.attrs).all(of_type) {
        return None;
    }
    // It would be another type in a copy; where it is no text, it was given the type's name.
    if names_itself(item) {
        return None;
    }
    if let Data::Enum(data) = &item.data
        && !data.variants.iter().all(|variant| are_plain(&variant.attrs))
    {
        return None;
    }
    let (mut fields, mut is_known) = (Fields { stored: Vec::new(), is_all: true }, true);
    each_field(item, |owner, place, field| is_known &= fields.add(owner, place, field).is_some());
    is_known.then_some(fields)
}

/// Every field that is not of a variant that is never stored.
fn each_field<'a>(item: &'a DeriveInput, mut look: impl FnMut(&str, Place, &'a Field)) {
    let name = item.ident.to_string();
    match &item.data {
        Data::Struct(data) => data.fields.iter().for_each(|field| look(&name, Place::Own, field)),
        Data::Enum(data) => {
            let is_tagged = has(&item.attrs, "tag") && !has(&item.attrs, "content");
            for variant in data.variants.iter().filter(|variant| !has(&variant.attrs, "skip")) {
                let owner = format!("{name}::{}", variant.ident);
                let is_alone =
                    matches!(&variant.fields, syn::Fields::Unnamed(all) if all.unnamed.len() == 1);
                let is_tagged = is_tagged && is_alone && !has(&variant.attrs, "untagged");
                let place = if is_tagged { Place::Tagged } else { Place::Own };
                variant.fields.iter().for_each(|field| look(&owner, place, field));
            }
        }
        Data::Union(_) => {}
    }
}

fn what(owner: &str, field: &Field) -> String {
    let ty = pretty(&field.ty);
    match &field.ident {
        Some(name) => format!("field `{name}` of `{owner}` is `{ty}`"),
        None => format!("`{owner}` holds `{ty}`"),
    }
}

/// Attributes that may change what is stored, or describe another type instead.
const UNKNOWN: [&str; 3] = ["cfg", "cfg_attr", "schemars"];

fn is_attr_in(attrs: &[Attribute], names: &[&str]) -> bool {
    attrs.iter().any(|attr| names.iter().any(|name| is_attr(attr, name)))
}

/// Whether no attribute changes what is stored.
fn are_plain(attrs: &[Attribute]) -> bool {
    !is_attr_in(attrs, &UNKNOWN) && options(attrs).all(|option| PLAIN.contains(&option.as_str()))
}

fn has(attrs: &[Attribute], name: &str) -> bool {
    options(attrs).any(|option| option == name)
}

/// Whether the attributes of a type say what has to be said to the derives on the type itself.
fn needs_itself(attrs: &[Attribute]) -> bool {
    options(attrs).any(|option| option == "rename" || option == "default")
}

/// Whether the type is called `Self` somewhere: in a text, such as that of an option, if not in its tokens.
fn names_itself(item: &DeriveInput) -> bool {
    let mut is_named = false;
    let mut look = |attrs: &[Attribute]| {
        let serde = attrs.iter().filter(|attr| is_attr(attr, "serde"));
        is_named |=
            serde.into_iter().any(|attr| attr.to_token_stream().to_string().contains("Self"));
    };
    look(&item.attrs);
    match &item.data {
        Data::Struct(data) => data.fields.iter().for_each(|field| look(&field.attrs)),
        Data::Enum(data) => {
            for variant in &data.variants {
                look(&variant.attrs);
                variant.fields.iter().for_each(|field| look(&field.attrs));
            }
        }
        Data::Union(_) => {}
    }
    is_named
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
        held(&item).map(|held| held.all.into_iter().map(|held| held.what).collect())
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
    fn says_nothing_of_fields_that_are_not_stored_as_their_types_say() {
        for (item, expected) in [
            ("struct A(#[serde(with = \"b\")] B, C);", "`A` holds `C`"),
            ("struct A(#[serde(skip_serializing, default)] B, C);", "`A` holds `C`"),
            ("struct A(#[serde(with = \"b\")] #[schemars(with = \"b\")] B, C);", "`A` holds `C`"),
            ("enum A { #[serde(skip)] B(D), E(C) }", "`A::E` holds `C`"),
        ] {
            assert_eq!(names(item).expect("fields"), [expected], "{item}");
        }
    }

    #[test]
    fn knows_a_type_by_another_name_and_its_default() {
        let of = |item: &str| {
            let item: DeriveInput = syn::parse_str(item).expect("an item");
            held(&item).map(|held| (held.name, held.defaulted.map(pretty)))
        };
        let renamed = of("#[serde(rename = \"b\")] struct A { c: u8 }");
        assert_eq!(renamed, Some(("b".to_owned(), None)));
        let defaulted = of("#[serde(default)] struct A { c: u8 }");
        assert_eq!(defaulted, Some(("A".to_owned(), Some("A".to_owned()))));
        let made = of("#[serde(default = \"made\")] struct A { c: u8 }");
        assert_eq!(made, Some(("A".to_owned(), None)));
    }

    #[test]
    fn what_is_flattened_or_tagged_has_no_place_of_its_own() {
        let places = |item: &str| {
            let item: DeriveInput = syn::parse_str(item).expect("an item");
            let held = held(&item).expect("fields").all.into_iter();
            held.map(|held| held.place).collect::<Vec<_>>()
        };
        assert_eq!(
            places("struct A { b: B, #[serde(flatten)] c: C }"),
            [Place::Own, Place::Flattened]
        );
        let variants = "enum A { B(C), D { e: E }, #[serde(untagged)] F(G) }";
        let tagged = places(&format!("#[serde(tag = \"t\")] {variants}"));
        assert_eq!(tagged, [Place::Tagged, Place::Own, Place::Own]);
        assert_eq!(places("#[serde(tag = \"t\", content = \"c\")] enum A { B(C) }"), [Place::Own]);
    }

    #[test]
    fn what_must_be_derived_for_the_type_itself_has_fields_all_the_same() {
        let least = |item: &str| {
            let item: DeriveInput = syn::parse_str(item).expect("an item");
            held_at_least(&item).into_iter().map(|held| pretty(held.ty)).collect::<Vec<_>>()
        };
        assert_eq!(least("struct A<T> { b: T, c: C, #[serde(with = \"d\")] d: D }"), ["C"]);
        assert_eq!(least("#[serde(into = \"B\")] struct A { b: C }"), [""; 0]);
    }

    #[test]
    fn says_nothing_where_more_than_types_matters() {
        for item in [
            "struct A<T>(T);",
            "struct A<'a>(&'a str);",
            "#[serde(into = \"B\")] struct A(u8);",
            "#[serde(transparent)] struct A(u8);",
            "#[serde(rename(serialize = \"B\"))] struct A(u8);",
            "struct A(#[serde(rename(serialize = \"b\"))] B);",
            "struct A(#[schemars(with = \"u8\")] B);",
            "struct A(#[cfg(test)] B);",
            "struct A { #[serde(default = \"Self::empty\")] held: u8 }",
            "enum A { #[serde(serialize_with = \"b\")] B(C) }",
        ] {
            assert!(names(item).is_none(), "{item}");
        }
    }
}
