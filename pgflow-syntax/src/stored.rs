//! `#[data]`: what a type looks like in JSON, as far as its attributes tell.

use syn::ext::IdentExt as _;
use syn::{Data, DataEnum, DeriveInput, Field, Fields, Type, Variant};

use crate::cases::{Case, field_case, variant_case};
use crate::serde_options::options;

/// What a value looks like in JSON.
pub enum StoredAs<'a> {
    /// Anything, as far as attributes tell.
    Unknown,
    /// `null`.
    Null,
    /// This text.
    Word(String),
    /// What this type is stored as.
    Type(&'a Type),
    /// An array of these.
    Tuple(Vec<StoredAs<'a>>),
    /// An object with these fields.
    Object(Vec<(String, StoredAs<'a>)>),
    /// One of these, as the variants of an `enum` are.
    OneOf(Vec<StoredAs<'a>>),
}

/// What a type is stored as, or `None` where that cannot be told.
///
/// A wrong answer would refuse correct conditions, so anything unusual is a `None`.
pub fn stored_as(item: &DeriveInput) -> Option<StoredAs<'_>> {
    match &item.data {
        Data::Struct(data) => {
            let mut case = Case::default();
            options(&item.attrs, |name, value| match (name, value) {
                ("rename_all", Some(rule)) => case.read(&rule),
                (
                    "default" | "deny_unknown_fields" | "bound" | "rename" | "crate" | "expecting",
                    _,
                ) => true,
                _ => false,
            })?;
            fields(&data.fields, case)
        }
        Data::Enum(data) => {
            let tags = Tags::of(item)?;
            variants(data, &tags).map(StoredAs::OneOf)
        }
        Data::Union(_) => None,
    }
}

fn fields(all: &Fields, case: Case) -> Option<StoredAs<'_>> {
    Some(match all {
        Fields::Unit => StoredAs::Null,
        Fields::Named(fields) => StoredAs::Object(named(fields.named.iter(), case)?),
        Fields::Unnamed(fields) => {
            let all: Option<Vec<_>> = fields.unnamed.iter().map(unnamed).collect();
            match <[_; 1]>::try_from(all?) {
                Ok([only]) => only,
                Err(all) => StoredAs::Tuple(all),
            }
        }
    })
}

fn unnamed(field: &Field) -> Option<StoredAs<'_>> {
    options(&field.attrs, |name, _| matches!(name, "default" | "bound"))?;
    Some(StoredAs::Type(&field.ty))
}

fn named<'a>(
    all: impl Iterator<Item = &'a Field>,
    case: Case,
) -> Option<Vec<(String, StoredAs<'a>)>> {
    let mut stored = Vec::new();
    for field in all {
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
        let ident = field.ident.as_ref()?.unraw().to_string();
        let name = renamed.unwrap_or_else(|| field_case(&ident, case));
        if !is_skipped {
            stored.push((name, StoredAs::Type(&field.ty)));
        }
    }
    Some(stored)
}

/// What serde's options say about the variants of an `enum`.
#[derive(Default)]
struct Tags {
    case: Case,
    fields: Case,
    tag: Option<String>,
    content: Option<String>,
    is_untagged: bool,
}

impl Tags {
    fn of(item: &DeriveInput) -> Option<Self> {
        let mut tags = Self::default();
        options(&item.attrs, |name, value| match (name, value) {
            ("rename_all", Some(rule)) => tags.case.read(&rule),
            ("rename_all_fields", Some(rule)) => tags.fields.read(&rule),
            ("tag", Some(tag)) => {
                tags.tag = Some(tag);
                true
            }
            ("content", Some(content)) => {
                tags.content = Some(content);
                true
            }
            ("untagged", None) => {
                tags.is_untagged = true;
                true
            }
            ("deny_unknown_fields" | "bound" | "rename" | "crate" | "expecting", _) => true,
            _ => false,
        })?;
        Some(tags)
    }

    /// A variant with its name, where the options put that.
    fn named<'a>(&self, name: String, held: StoredAs<'a>, is_unit: bool) -> StoredAs<'a> {
        let word = StoredAs::Word(name.clone());
        match (&self.tag, &self.content) {
            _ if self.is_untagged => held,
            (Some(tag), Some(content)) => {
                let held = (!is_unit).then(|| (content.clone(), held));
                StoredAs::Object([(tag.clone(), word)].into_iter().chain(held).collect())
            }
            (Some(tag), None) => match held {
                _ if is_unit => StoredAs::Object(vec![(tag.clone(), word)]),
                StoredAs::Object(fields) => {
                    StoredAs::Object([(tag.clone(), word)].into_iter().chain(fields).collect())
                }
                _ => StoredAs::Unknown,
            },
            (None, _) if is_unit => word,
            (None, _) => StoredAs::Object(vec![(name, held)]),
        }
    }
}

fn variants<'a>(data: &'a DataEnum, tags: &Tags) -> Option<Vec<StoredAs<'a>>> {
    let mut all = Vec::new();
    for it in &data.variants {
        all.extend(variant(it, tags)?);
    }
    Some(all)
}

/// Nothing for a variant that is never stored; an error, `None`, where serde does something else.
#[expect(clippy::option_option, reason = "`None` is \"cannot be told\", as everywhere here")]
fn variant<'a>(variant: &'a Variant, tags: &Tags) -> Option<Option<StoredAs<'a>>> {
    let (mut renamed, mut is_skipped, mut case) = (None, false, tags.fields);
    options(&variant.attrs, |name, value| match (name, value) {
        ("rename", Some(name)) => {
            renamed = Some(name);
            true
        }
        ("rename_all", Some(rule)) => case.read(&rule),
        ("skip" | "skip_serializing", None) => {
            is_skipped = true;
            true
        }
        ("bound", _) => true,
        _ => false,
    })?;
    if is_skipped {
        return Some(None);
    }
    let name =
        renamed.unwrap_or_else(|| variant_case(&variant.ident.unraw().to_string(), tags.case));
    let is_unit = matches!(variant.fields, Fields::Unit);
    Some(Some(tags.named(name, fields(&variant.fields, case)?, is_unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(item: &str) -> Option<String> {
        let item: DeriveInput = syn::parse_str(item).expect("an item");
        stored_as(&item).map(|stored| text(&stored))
    }

    fn text(stored: &StoredAs<'_>) -> String {
        let all = |of: &[StoredAs<'_>]| of.iter().map(text).collect::<Vec<_>>();
        match stored {
            StoredAs::Unknown => "?".to_owned(),
            StoredAs::Null => "null".to_owned(),
            StoredAs::Word(word) => format!("{word:?}"),
            StoredAs::Type(ty) => crate::pretty(ty),
            StoredAs::Tuple(of) => format!("[{}]", all(of).join(", ")),
            StoredAs::OneOf(of) => all(of).join(" | "),
            StoredAs::Object(fields) => {
                let fields = fields.iter().map(|(name, of)| format!("{name}: {}", text(of)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    #[test]
    fn follows_renames_and_skips() {
        let item = r#"
            #[serde(rename_all = "camelCase")]
            struct User {
                first_name: String,
                #[serde(rename = "e-mail")] email: u8,
                #[serde(skip)] cache: u32,
                #[serde(default, skip_serializing_if = "Option::is_none")] r#type: Option<u8>,
            }"#;
        let expected = "{firstName: String, e-mail: u8, type: Option<u8>}";
        assert_eq!(said(item).as_deref(), Some(expected));
        assert_eq!(said("struct A(u32);").as_deref(), Some("u32"));
        assert_eq!(said("struct A(u32, B);").as_deref(), Some("[u32, B]"));
        assert_eq!(said("struct A;").as_deref(), Some("null"));
    }

    #[test]
    fn puts_the_names_of_variants_where_serde_does() {
        let variants = "enum A { OneTwo, B(C), D { e_f: E }, #[serde(skip)] G }";
        for (options, expected) in [
            ("", r#""OneTwo" | {B: C} | {D: {e_f: E}}"#),
            ("#[serde(rename_all = \"snake_case\")]", r#""one_two" | {b: C} | {d: {e_f: E}}"#),
            ("#[serde(rename_all_fields = \"camelCase\")]", r#""OneTwo" | {B: C} | {D: {eF: E}}"#),
            ("#[serde(tag = \"t\")]", r#"{t: "OneTwo"} | ? | {t: "D", e_f: E}"#),
            (
                "#[serde(tag = \"t\", content = \"c\")]",
                r#"{t: "OneTwo"} | {t: "B", c: C} | {t: "D", c: {e_f: E}}"#,
            ),
            ("#[serde(untagged)]", "null | C | {e_f: E}"),
        ] {
            assert_eq!(
                said(&format!("{options} {variants}")).as_deref(),
                Some(expected),
                "{options}"
            );
        }
    }

    #[test]
    fn says_nothing_where_serde_does_something_else() {
        for item in [
            "#[serde(transparent)] struct A { b: u32 }",
            "#[serde(tag = \"t\")] struct A { b: u32 }",
            "#[serde(into = \"B\")] struct A { b: u32 }",
            "#[serde(rename_all(serialize = \"camelCase\"))] struct A { b: u32 }",
            "struct A { #[serde(flatten)] b: B }",
            "struct A { #[serde(alias = \"c\")] b: u32 }",
            "struct A { #[cfg(test)] b: u32 }",
            "struct A(#[serde(with = \"b\")] u32);",
            "enum A { #[serde(other)] B }",
            "enum A { #[serde(alias = \"C\")] B }",
            "#[serde(try_from = \"B\")] enum A { B }",
        ] {
            assert_eq!(said(item), None, "{item}");
        }
    }
}
