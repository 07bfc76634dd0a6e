//! Flows in places that are not followed.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Where the first `#[flow]` is, however deep.
pub(super) fn find(tokens: TokenStream) -> Option<Span> {
    let mut hash = None;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => hash = Some(punct.span()),
            TokenTree::Group(group) => {
                let is_attribute = group.delimiter() == Delimiter::Bracket;
                if let Some(span) = hash.take().filter(|_| is_attribute) {
                    if is_flow(group.stream()) {
                        return Some(span);
                    }
                } else if let Some(span) = find(group.stream()) {
                    return Some(span);
                }
            }
            _ => hash = None,
        }
    }
    None
}

/// `flow`, `pgflow::flow(…)` or `$crate::flow`.
fn is_flow(attribute: TokenStream) -> bool {
    let mut last = None;
    for token in attribute {
        match token {
            TokenTree::Ident(ident) => last = Some(ident),
            TokenTree::Punct(punct) if matches!(punct.as_char(), ':' | '$') => {}
            TokenTree::Group(_) => break,
            _ => return false,
        }
    }
    last.is_some_and(|ident| ident == "flow")
}

/// `flow as name`, in the tokens of a `use`.
pub(super) fn renamed(tokens: TokenStream) -> Option<(Span, String)> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for token in &tokens {
        if let TokenTree::Group(group) = token
            && let found @ Some(_) = renamed(group.stream())
        {
            return found;
        }
    }
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Ident(flow), TokenTree::Ident(word), TokenTree::Ident(name)]
            if flow == "flow" && word == "as" && name != "_" =>
        {
            Some((flow.span(), name.to_string()))
        }
        _ => None,
    })
}
