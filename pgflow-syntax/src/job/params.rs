//! Where each parameter of a need comes from. Parameters are matched by name.

use quote::ToTokens as _;
use syn::{FnArg, Pat, PatType, Type};

use crate::errors::Errors;
use crate::item::StepItem;
use crate::param_shape::{
    self, check_arguments, check_attributes, check_owned, is_no_state, is_transaction, lent,
    no_state,
};
use crate::params::{CONTEXT, ITEM, RUN, TRANSACTION, is_state, matched_name};
use crate::suggest::closest;
use crate::unknown_param::{held_as_state, is_own};

/// The parameter that takes the payload.
pub(crate) const PAYLOAD: &str = "job";

/// A parameter of a need.
pub struct NeedParam<'a> {
    /// Its type.
    pub ty: &'a Type,
    /// Where its value comes from.
    pub source: NeedSource,
}

/// Where the value of a need's parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedSource {
    /// `job`: the payload.
    Payload,
    /// `ctx`: the context.
    Context,
    /// Any name, of type `State<T>`: application state.
    State,
    /// `tx`: the transaction that records how the attempt ended.
    Transaction,
}

/// Finds the source of every parameter.
pub(super) fn resolve<'a>(item: &'a StepItem, errors: &mut Errors) -> Vec<NeedParam<'a>> {
    let mut params: Vec<NeedParam<'a>> = Vec::new();
    for arg in &item.sig.inputs {
        let FnArg::Typed(arg) = arg else { continue }; // The compiler reports a `self` here.
        check_attributes(item, arg, errors);
        match source(item, arg) {
            Ok(source) if is_taken(&params, source) => {
                errors.at(&arg.pat, format!("{} takes this value already", item.what()));
            }
            Ok(source) => params.push(NeedParam { ty: &arg.ty, source }),
            Err(error) => {
                errors.keep::<()>(Err(error));
            }
        }
    }
    params
}

fn is_taken(params: &[NeedParam<'_>], source: NeedSource) -> bool {
    source != NeedSource::State && params.iter().any(|param| param.source == source)
}

fn source(item: &StepItem, arg: &PatType) -> syn::Result<NeedSource> {
    let ty = &*arg.ty;
    let at_type = |message: String| syn::Error::new_spanned(ty.to_token_stream(), message);
    let Pat::Ident(pat) = &*arg.pat else {
        // Application state is known by its type, so it can be taken apart at once.
        return if is_state(ty) {
            check_arguments(item, "", ty).map(|()| NeedSource::State).map_err(at_type)
        } else if is_no_state(arg) {
            Err(at_type(no_state(item, ty)))
        } else {
            let message =
                format!("{} must name this parameter: it is matched by name", item.what());
            Err(syn::Error::new_spanned(&arg.pat, message))
        };
    };
    let word = &*matched_name(&pat.ident);
    if word == TRANSACTION {
        return param_shape::check_transaction(item, ty)
            .map(|()| NeedSource::Transaction)
            .map_err(at_type);
    }
    if is_transaction(ty) {
        let message = param_shape::transaction_called(item, ty);
        return Err(syn::Error::new_spanned(&pat.ident, message));
    }
    if ![PAYLOAD, CONTEXT].contains(&word) && !is_state(lent(ty)) {
        return Err(syn::Error::new_spanned(&pat.ident, unknown(item, word, ty)));
    }
    check_owned(item, ty).and_then(|()| check_arguments(item, word, ty)).map_err(at_type)?;
    match word {
        PAYLOAD => Ok(NeedSource::Payload),
        CONTEXT => Ok(NeedSource::Context),
        _ => Ok(NeedSource::State),
    }
}

/// A name that means nothing to a need.
fn unknown(item: &StepItem, word: &str, ty: &Type) -> String {
    let near = match word {
        RUN | ITEM | "input" | "payload" | "message" | "args" => Some(PAYLOAD),
        "context" => Some(CONTEXT),
        _ => closest(word, [PAYLOAD, CONTEXT, TRANSACTION]),
    };
    let help = match near {
        Some(near) => format!("it is called `{near}`"),
        None if matches!(ty, Type::Reference(_)) && is_own(lent(ty)) => {
            format!("application state is taken as `State<{}>`", held_as_state(lent(ty)))
        }
        None => format!(
            "a need takes its payload as `{PAYLOAD}`, and may take `{CONTEXT}`, `{TRANSACTION}` and \
             application state, `State(app): State<App>`"
        ),
    };
    format!(
        "{} cannot take `{word}`: a need's parameters are matched by name\nhelp: {help}",
        item.what()
    )
}
