//! `#[data]`: what is wrong with a type, as far as its tokens show it.

use quote::quote;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Meta, Path, Token, Type, parse_quote};

use crate::errors::Errors;
use crate::item::is_attr;
use crate::owned::{has_reference, owned_type};
use crate::pretty::pretty;
use crate::scalars::is_scalar;
use crate::serde_options::{is_by_function, options, unknown_option};

/// What `#[data]` derives.
const DERIVED: [&str; 3] = ["Serialize", "Deserialize", "JsonSchema"];

/// Reports mistakes, and takes away what the compiler would report once more.
///
/// With a schema, fields that are stored by a function get one of `any` type: only the function knows
/// what it writes.
pub fn data_mistakes(item: &mut DeriveInput, any: Option<&str>, errors: &mut Errors) {
    let name = item.ident.to_string();
    report_tag(item, errors);
    check_attributes(&mut item.attrs, any.is_some(), errors);
    report_options(&item.attrs, errors);
    let is_plain = ["default", "transparent", "from", "try_from", "into", "remote"];
    let is_plain = !is_plain.iter().any(|option| has_option(&item.attrs, option));
    let fields: Vec<&mut Field> = match &mut item.data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => {
            data.variants.iter().for_each(|variant| report_options(&variant.attrs, errors));
            data.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut()).collect()
        }
        Data::Union(_) => Vec::new(),
    };
    for field in fields {
        report_options(&field.attrs, errors);
        report_borrowed(&name, field, errors);
        if is_plain {
            report_unread(&name, field, errors);
        }
        if let Some(any) = any.filter(|_| is_stored_by_function(field)) {
            field.attrs.push(parse_quote!(#[schemars(with = #any)]));
        }
    }
}

/// One of our derives, or `#[data]` itself, a second time.
fn check_attributes(attrs: &mut Vec<Attribute>, has_schema: bool, errors: &mut Errors) {
    attrs.retain(|attr| {
        let is_again = is_attr(attr, "data");
        if is_again {
            errors.at(attr, "this is marked `#[data]` more than once\nhelp: once is enough");
        }
        !is_again
    });
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("derive")) {
        let Ok(paths) = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
        else {
            continue;
        };
        let is_ours = |path: &&Path| {
            let last = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            DERIVED.contains(&&*last) && (has_schema || last != "JsonSchema")
        };
        let (ours, others): (Vec<_>, Vec<_>) = paths.iter().partition(is_ours);
        if let Some(first) = ours.first() {
            let others = quote!(#(#others),*);
            let help = match pretty(&others) {
                none if none.is_empty() => "leave this `#[derive(…)]` away".to_owned(),
                others => format!("write `#[derive({others})]`"),
            };
            errors
                .at(first, format!("`#[data]` derives `{}` already\nhelp: {help}", pretty(first)));
            attr.meta = parse_quote!(derive(#others));
        }
    }
}

fn report_options(attrs: &[Attribute], errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| is_attr(attr, "serde")) {
        if let Some((at, message)) = unknown_option(attr) {
            errors.at(at, message);
        }
    }
}

/// A field of a variant that is called like the key under which the variant itself is stored.
fn report_tag(item: &DeriveInput, errors: &mut Errors) {
    let Data::Enum(data) = &item.data else { return };
    let (mut tag, mut is_alone) = (None, true);
    let read = options(&item.attrs, |name, value| {
        match name {
            "tag" => tag = value,
            // These change what fields are called, or where they are.
            "content" | "rename_all_fields" | "untagged" => is_alone = false,
            _ => {}
        }
        true
    });
    let (Some(()), Some(tag), true) = (read, tag, is_alone) else { return };
    for variant in data.variants.iter().filter(|variant| variant.attrs.is_empty()) {
        let fields = variant.fields.iter().filter(|field| field.attrs.is_empty());
        for name in fields.filter_map(|field| field.ident.as_ref()) {
            if name.unraw() == tag {
                errors.at(
                    name,
                    format!("`{tag}` says which variant it is, so `{}` cannot have a field of that name\nhelp: give the field another name, or the enum another `tag`", variant.ident),
                );
            }
        }
    }
}

/// A field that borrows can be written, but not read back.
fn report_borrowed(owner: &str, field: &Field, errors: &mut Errors) {
    if !has_reference(&field.ty) {
        return;
    }
    let help = owned_type(&field.ty).map(|owned| format!("\nhelp: store `{owned}`"));
    errors.at(
        &field.ty,
        format!(
            "`{owner}` borrows `{}`: what is stored is read back, so it must own its data{}",
            pretty(&field.ty),
            help.unwrap_or_default(),
        ),
    );
}

/// A field that is not always written, and has to be there when it is read. An `Option` need not be, nor what is one behind a name.
fn report_unread(owner: &str, field: &Field, errors: &mut Errors) {
    const MAY_BE_MISSING: [&str; 4] = ["default", "skip", "skip_deserializing", "flatten"];
    let Some(name) = &field.ident else { return };
    let is_read = !MAY_BE_MISSING.iter().any(|option| has_option(&field.attrs, option));
    if !is_read || !(is_by_function(&field.attrs) || is_never_missing(&field.ty)) {
        return;
    }
    let left_out = ["skip_serializing", "skip_serializing_if"];
    let mut metas = field.attrs.iter().flat_map(metas);
    let found = metas.find(|meta| left_out.iter().any(|option| meta.path().is_ident(option)));
    if let Some(meta) = found {
        let message = format!(
            "`{owner}` is stored without `{name}` by this, and then cannot be read back\n\
             help: say what it is where it is missing: `#[serde(default, {} …)]`",
            pretty(meta.path())
        );
        errors.at(meta, message);
    }
}

/// Whether serde asks for a field of this type, as far as its spelling tells.
fn is_never_missing(ty: &Type) -> bool {
    const KNOWN: [&str; 7] =
        ["String", "Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet"];
    let Type::Path(path) = ty else { return matches!(ty, Type::Tuple(_) | Type::Array(_)) };
    let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    is_scalar(&last) || KNOWN.contains(&&*last)
}

fn has_option(attrs: &[Attribute], option: &str) -> bool {
    attrs.iter().flat_map(metas).any(|meta| meta.path().is_ident(option))
}

/// The options of a `#[serde(…)]`; none if they cannot be read.
fn metas(attr: &Attribute) -> Vec<Meta> {
    if !is_attr(attr, "serde") {
        return Vec::new();
    }
    let metas = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    metas.map(|all| all.into_iter().collect()).unwrap_or_default()
}

/// Whether a field is written by a function of its own, and its schema says nothing about that.
fn is_stored_by_function(field: &Field) -> bool {
    let is_described = field.attrs.iter().any(|attr| is_attr(attr, "schemars"));
    is_by_function(&field.attrs) && !is_described
}
