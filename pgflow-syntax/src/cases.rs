//! serde's `rename_all`.

/// How names are spelled in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Case {
    /// As in Rust.
    #[default]
    Same,
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    /// Reads a rule, and says whether it is known.
    pub(crate) fn read(&mut self, rule: &str) -> bool {
        *self = match rule {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return false,
        };
        true
    }
}

/// The name of a field, which is `snake_case` in Rust.
pub(crate) fn field_case(name: &str, case: Case) -> String {
    match case {
        Case::Same | Case::Lower | Case::Snake => name.to_owned(),
        Case::Upper | Case::ScreamingSnake => name.to_ascii_uppercase(),
        Case::Pascal => name.split('_').map(|word| first(word, char::to_ascii_uppercase)).collect(),
        Case::Camel => first(&field_case(name, Case::Pascal), char::to_ascii_lowercase),
        Case::Kebab => name.replace('_', "-"),
        Case::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
    }
}

/// The name of a variant, which is `PascalCase` in Rust.
pub(crate) fn variant_case(name: &str, case: Case) -> String {
    match case {
        Case::Same | Case::Pascal => name.to_owned(),
        Case::Lower => name.to_ascii_lowercase(),
        Case::Upper => name.to_ascii_uppercase(),
        Case::Camel => first(name, char::to_ascii_lowercase),
        Case::Snake => snake(name),
        Case::ScreamingSnake => snake(name).to_ascii_uppercase(),
        Case::Kebab => snake(name).replace('_', "-"),
        Case::ScreamingKebab => snake(name).to_ascii_uppercase().replace('_', "-"),
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn first(word: &str, change: fn(&char) -> char) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| change(&letter));
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_names_as_serde_does() {
        for (rule, field, variant) in [
            ("lowercase", "first_name", "firstname"),
            ("UPPERCASE", "FIRST_NAME", "FIRSTNAME"),
            ("PascalCase", "FirstName", "FirstName"),
            ("camelCase", "firstName", "firstName"),
            ("snake_case", "first_name", "first_name"),
            ("SCREAMING_SNAKE_CASE", "FIRST_NAME", "FIRST_NAME"),
            ("kebab-case", "first-name", "first-name"),
            ("SCREAMING-KEBAB-CASE", "FIRST-NAME", "FIRST-NAME"),
        ] {
            let mut case = Case::default();
            assert!(case.read(rule), "{rule}");
            assert_eq!(field_case("first_name", case), field, "{rule}");
            assert_eq!(variant_case("FirstName", case), variant, "{rule}");
        }
    }
}
