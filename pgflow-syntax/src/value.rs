//! `= value` after the name of an option.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Token};

/// Reads the `=`. If it or the value is not there yet, says at the option what is `wanted`.
pub(crate) fn equals(args: ParseStream<'_>, name: &Ident, wanted: &str) -> syn::Result<()> {
    if let Some(colon) = args.parse::<Option<Token![:]>>()? {
        return Err(syn::Error::new(colon.span, format!("a value comes after `=`: {wanted}")));
    }
    let has_equals = args.parse::<Option<Token![=]>>()?.is_some();
    if !has_equals || args.is_empty() || args.peek(Token![,]) {
        return Err(syn::Error::new(name.span(), wanted));
    }
    Ok(())
}

/// Reads `= value`, and says of the whole value what is `wanted` in place of what the parser expected.
pub(crate) fn value<T: Parse>(args: ParseStream<'_>, name: &Ident, wanted: &str) -> syn::Result<T> {
    equals(args, name, wanted)?;
    let whole = args.fork();
    args.parse().map_err(|_| wrong_value(&whole, wanted))
}

/// Says what is wanted in place of all of the value that comes next.
pub(crate) fn wrong_value(args: ParseStream<'_>, wanted: &str) -> syn::Error {
    match up_to_comma(&args.fork()) {
        Ok(value) => syn::Error::new_spanned(value, wanted),
        Err(error) => error,
    }
}

/// What belongs to this option: an error may be about all of it.
pub(crate) fn up_to_comma(args: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut found = TokenStream::new();
    while !args.is_empty() && !args.peek(Token![,]) {
        found.extend([args.parse::<TokenTree>()?]);
    }
    Ok(found)
}

/// Reads `= true` or `= false`.
pub(crate) fn boolean(args: ParseStream<'_>, name: &Ident) -> syn::Result<bool> {
    let wanted = format!("`{name}` is `true` or `false`: `{name} = false`");
    Ok(value::<syn::LitBool>(args, name, &wanted)?.value)
}
