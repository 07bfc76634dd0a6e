//! Types that the user's module has of its own, so that generated ones get out of their way.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Ident;

use crate::errors::Errors;
use crate::item::{FlowItem, Piece};
use crate::owned::is_punct;
use crate::used_macros::is_macro;

/// Names in the module's type namespace, as far as its tokens show them.
#[derive(Default)]
pub(crate) struct OwnItems {
    /// `struct`, `enum`, `union`, `type`, `trait` and `mod`.
    defined: HashMap<String, Ident>,
    /// Those of them that are also values: `struct Name;` and `struct Name(…);`.
    values: HashSet<String>,
    /// Last names, or new names, in `use`.
    imported: HashMap<String, Ident>,
    /// `fn`, but for steps.
    functions: HashSet<String>,
}

impl OwnItems {
    pub(crate) fn of(item: &FlowItem) -> Self {
        let mut own = Self::default();
        for piece in &item.content {
            if let Piece::Other(tokens) = piece {
                own.scan(tokens.clone());
            }
        }
        own
    }

    /// Whether the name is taken, by a definition or an import.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.defined.contains_key(name) || self.imported.contains_key(name)
    }

    /// Whether there is a function of this name that is no step.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// The item that is defined under this name.
    pub(crate) fn defined(&self, name: &str) -> Option<&Ident> {
        self.defined.get(name)
    }

    /// Whether the compiler itself says that no function can have this name.
    pub(crate) fn is_value(&self, name: &str) -> bool {
        self.values.contains(name)
    }

    /// The import that brings in this name, for a type or a module as far as can be told.
    pub(crate) fn imported(&self, name: &str, item: &FlowItem) -> Option<&Ident> {
        self.imported.get(name).filter(|_| !is_macro(name, item))
    }

    fn scan(&mut self, tokens: TokenStream) {
        const KEYWORDS: [&str; 6] = ["struct", "enum", "union", "type", "trait", "mod"];
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let TokenTree::Ident(keyword) = token else { continue };
            if keyword == "fn" {
                self.functions.extend(tokens.next().map(|name| name.to_string()));
            } else if keyword == "use" {
                self.import(tokens.by_ref().take_while(|token| !is_punct(token, ';')).collect());
            } else if KEYWORDS.iter().any(|word| keyword == word)
                && let Some(TokenTree::Ident(name)) = tokens.next()
            {
                if tokens.peek().is_some_and(|next| is_punct(next, ';') || is_tuple(next)) {
                    self.values.insert(name.to_string());
                }
                self.defined.insert(name.to_string(), name);
            }
        }
    }

    /// Keeps the names that one `use` brings in: those before `,`, `}` and the end.
    fn import(&mut self, tree: TokenStream) {
        let mut last: Option<Ident> = None;
        for token in tree {
            match token {
                TokenTree::Ident(name) => last = Some(name),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    last = None;
                    self.import(group.stream());
                }
                ref token if is_punct(token, ',') => self.keep(last.take()),
                ref token if is_punct(token, '*') => last = None,
                _ => {}
            }
        }
        self.keep(last);
    }

    fn keep(&mut self, name: Option<Ident>) {
        if let Some(name) = name {
            self.imported.insert(name.to_string(), name);
        }
    }
}

/// Reports an item that has the name of a function whose type needs it.
pub(crate) fn report_own(own: &OwnItems, name: &Ident, what: &str, errors: &mut Errors) {
    let text = name.to_string();
    let Some(other) = own.defined(&text) else { return };
    let message = format!(
        "{what} `{name}` needs this name for its own type\nhelp: rename this item, or move it out of the module"
    );
    let error = syn::Error::new_spanned(other, message);
    if own.is_value(&text) {
        errors.left_to_compiler(error);
    } else {
        errors.keep::<()>(Err(error));
    }
}

fn is_tuple(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(module: &str) -> OwnItems {
        OwnItems::of(&syn::parse_str(module).expect("a module"))
    }

    #[test]
    fn sees_definitions_and_imports() {
        let own = own("mod m { use a::{b::Flow, c::{D as E, F}}; struct G; fn h() { struct I; } }");
        for name in ["Flow", "E", "F", "G"] {
            assert!(own.has(name), "{name}");
        }
        for name in ["a", "b", "D", "h", "I"] {
            assert!(!own.has(name), "{name}");
        }
    }

    #[test]
    fn a_glob_takes_no_name() {
        assert!(!own("mod m { use super::*; use Flow::*; }").has("Flow"));
    }
}
