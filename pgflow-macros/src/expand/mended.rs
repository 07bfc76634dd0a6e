//! Functions that the compiler would complain about once more, after us.
//!
//! An editor gets them as they were written: whoever is typing wants its help there.

use pgflow_syntax::{
    StepItem, first_of_many_states, is_bare_parameter, is_bare_result, is_bare_waiting, is_no_state,
};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{FnArg, ReturnType, parse_quote};

use crate::editor::is_editor;

/// A step's function.
pub(super) fn function(step: &StepItem) -> TokenStream {
    let is_bare = matches!(&step.sig.output, ReturnType::Type(_, ty) if is_bare_result(ty) || is_bare_waiting(ty));
    let has_bare = step.sig.inputs.iter().any(is_bare_argument);
    if (step.has_body() && !is_bare && !has_bare) || is_editor() {
        return step.to_token_stream();
    }
    let (vis, mut sig) = (&step.vis, step.sig.clone());
    if is_bare {
        sig.output = parse_quote!(-> ::core::result::Result<(), ()>);
    }
    for arg in sig.inputs.iter_mut().filter(|arg| is_bare_argument(arg)) {
        *arg = parse_quote!(_: ());
    }
    quote!(#[allow(unused_variables)] #vis #sig { loop {} })
}

fn is_bare_argument(arg: &FnArg) -> bool {
    let FnArg::Typed(arg) = arg else { return false };
    is_bare_parameter(&arg.ty) || first_of_many_states(&arg.ty).is_some() || is_no_state(arg)
}
