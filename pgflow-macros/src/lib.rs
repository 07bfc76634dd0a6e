//! `#[flow]`, `#[step]`, `#[job]`, `#[need]` and `#[data]`. See the `pgflow` crate for what they do.

#![forbid(unsafe_code)]

mod data;
mod deployed;
mod drift;
mod editor;
mod expand;
mod job;
mod pgflow_crate;
mod slugs;
mod span;
mod storable;

use proc_macro::TokenStream;
use quote::quote;

/// Turns a module into a flow.
#[proc_macro_attribute]
pub fn flow(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::flow(args.into(), &item.into()).into()
}

/// Marks a step of a flow.
#[proc_macro_attribute]
pub fn step(_args: TokenStream, item: TokenStream) -> TokenStream {
    outside("`#[step]` only works directly inside a `#[flow]` module", item)
}

/// Turns a module into a kind of job.
#[proc_macro_attribute]
pub fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    job::job(args.into(), &item.into()).into()
}

/// Marks a need of a kind of job.
#[proc_macro_attribute]
pub fn need(_args: TokenStream, item: TokenStream) -> TokenStream {
    outside("`#[need]` only works directly inside a `#[job]` module", item)
}

/// For an attribute that its module takes away: it is only ever run where there is none.
fn outside(message: &str, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let mut after_fn = item.clone().into_iter().skip_while(|token| token.to_string() != "fn");
    let name = after_fn.nth(1);
    let error = syn::Error::new_spanned(name, message).into_compile_error();
    quote!(#item #error).into()
}

/// Makes a type one that flows can store.
#[proc_macro_attribute]
pub fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(args.into(), item.into()).into()
}

/// Derives nothing: it makes the attributes of serde known on a type whose traits are derived for a
/// copy of it.
#[doc(hidden)]
#[proc_macro_derive(__Attributes, attributes(serde, schemars))]
pub fn attributes(_item: TokenStream) -> TokenStream {
    TokenStream::new()
}
