//! A type whose derives have to be on the type itself: a generic one, of which some fields can be checked before its parameters are
//! known, or one that is described as what it holds.

use pgflow_syntax::{HeldBeside, pretty};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::DeriveInput;
use syn::ext::IdentExt;

use super::{copy, derive};

/// The derives on the type itself. Where they would explain a field that cannot be stored, each for itself and in pages, they are
/// told to believe that it can be, and the check says why not.
pub(super) fn expand(
    item: &DeriveInput,
    beside: &HeldBeside<'_>,
    pgflow: &TokenStream,
) -> TokenStream {
    let checked = format_ident!("__{}_can_be_stored", item.ident.unraw());
    let checks = beside.held.iter().map(|held| copy::check(held, true, pgflow));
    let private = format!("{}::__private", pretty(pgflow));
    let believed =
        |ty: &TokenStream| format!("for<'a> {}: {private}::Believed<'a, {checked}>", pretty(ty));
    let believed: Vec<_> = copy::types(&beside.held, false).iter().map(believed).collect();
    // What serde and schemars would conclude from the other fields.
    let bound = |rule: &str| {
        let of = beside.parameters.iter().map(|name| format!("{name}: {private}::{rule}"));
        of.chain(believed.iter().cloned()).collect::<Vec<_>>().join(", ")
    };
    let [write, read, describe] =
        ["serde::Serialize", "serde::Deserialize<'de>", "schemars::JsonSchema"].map(bound);
    let derives = derive(true, pgflow);
    quote! {
        #derives
        #[serde(bound(serialize = #write, deserialize = #read))]
        #[schemars(bound = #describe)]
        #item

        #[allow(non_camel_case_types)]
        type #checked = (#(#checks,)*);
    }
}
