//! The words of `#[step(…)]` and `#[flow(…)]`, right or wrong: an editor asks about each of them.

use proc_macro2::{TokenStream, TokenTree};
use syn::Ident;

/// Names of options, and names in `depends_on`.
#[derive(Default)]
pub struct AttributeWords {
    /// What comes first, or after a comma.
    pub options: Vec<Ident>,
    /// What stands for a step in `depends_on`.
    pub dependencies: Vec<Ident>,
}

impl AttributeWords {
    /// Those in the parentheses of an attribute.
    pub fn of(arguments: TokenStream) -> Self {
        let mut words = Self::default();
        let mut is_start = true;
        for token in arguments {
            match &token {
                TokenTree::Ident(name) if is_start => words.options.push(name.clone()),
                TokenTree::Ident(name) if words.is_depends_on() => {
                    words.dependencies.push(name.clone());
                }
                TokenTree::Group(group) if words.is_depends_on() => words.list(group.stream()),
                _ => {}
            }
            is_start = is_comma(&token);
        }
        words
    }

    fn is_depends_on(&self) -> bool {
        self.options.last().is_some_and(|name| name == "depends_on")
    }

    fn list(&mut self, list: TokenStream) {
        let mut is_start = true;
        for token in list {
            if let (TokenTree::Ident(name), true) = (&token, is_start) {
                self.dependencies.push(name.clone());
            }
            is_start = is_comma(&token);
        }
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (Vec<String>, Vec<String>) {
        let words = AttributeWords::of(text.parse().expect("tokens"));
        let texts = |of: Vec<Ident>| of.iter().map(ToString::to_string).collect();
        (texts(words.options), texts(words.dependencies))
    }

    #[test]
    fn finds_them_in_right_and_in_wrong_attributes() {
        let (options, dependencies) = words("map, depends_on = [a as b, c], timeout = x");
        assert_eq!(options, ["map", "depends_on", "timeout"]);
        assert_eq!(dependencies, ["a", "c"]);
        assert_eq!(words("depends_on = a, ma").0, ["depends_on", "ma"]);
        assert_eq!(words("depends_on = a").1, ["a"]);
        assert_eq!(words("dep").0, ["dep"]);
    }
}
