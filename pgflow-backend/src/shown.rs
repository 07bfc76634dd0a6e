//! What of a URL people may see.
//!
//! A password may be anywhere in a URL that somebody got wrong, so nothing is shown unless it can't be a part of one.

/// Stands for what is left out.
const HIDDEN: &str = "…";

/// A URL for people: scheme, server and database, or scheme and file. For messages of backends.
///
/// ```
/// let url = "mysql://app:secret@db.example/shop?ssl-mode=REQUIRED";
/// assert_eq!(pgflow_backend::shown::shown(url), "mysql://db.example/shop");
/// ```
pub fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once(':') else { return HIDDEN.to_owned() };
    let (slashes, place) = rest.strip_prefix("//").map_or(("", rest), |place| ("//", place));
    match scheme.to_ascii_lowercase().as_str() {
        "memory" => "memory:".to_owned(),
        "sqlite" | "file" => {
            format!("{scheme}:{slashes}{}", file(place).unwrap_or_else(|| HIDDEN.to_owned()))
        }
        "postgres" | "postgresql" | "mysql" | "mariadb" if slashes == "//" => {
            format!("{scheme}://{}", server(place).unwrap_or(HIDDEN))
        }
        "postgres" | "postgresql" | "mysql" | "mariadb" => format!("{scheme}:{HIDDEN}"),
        _ => HIDDEN.to_owned(),
    }
}

/// A path, without what might be somebody's password.
pub fn shown_file(path: &str) -> String {
    file(path).unwrap_or_else(|| HIDDEN.to_owned())
}

fn file(place: &str) -> Option<String> {
    let path = before_options(place, &['?'])?;
    Some(path.rsplit_once('@').map_or_else(|| path.to_owned(), |(_, end)| format!("{HIDDEN}{end}")))
}

/// `host:port/database`, if it is no more than that.
fn server(place: &str) -> Option<&str> {
    let whole = before_options(place, &['?', '#'])?;
    let place = whole.rsplit_once('@').map_or(whole, |(_, place)| place);
    let (host, database) = place.split_once('/').unwrap_or((place, ""));
    (is_host(host) && is_word(database)).then_some(place)
}

/// What stands before the options. Nothing if an `@` comes after them: then nobody knows whether that is in an option,
/// or whether what looks like the beginning of options is in a password that nobody encoded.
fn before_options<'a>(place: &'a str, marks: &[char]) -> Option<&'a str> {
    let (before, options) = place.split_at(place.find(marks).unwrap_or(place.len()));
    (!options.contains('@')).then_some(before)
}

/// A name or an address, and perhaps a port. `ann:secret` is neither.
fn is_host(text: &str) -> bool {
    if let Some((address, port)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_address = address.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.'));
        return is_address && (port.is_empty() || port.strip_prefix(':').is_some_and(is_number));
    }
    match text.split_once(':') {
        Some((name, port)) => is_word(name) && is_number(port),
        None => is_word(text),
    }
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_shown() {
        for (url, expected) in [
            (
                "postgres://ann:secret@db.example:5432/shop?password=x",
                "postgres://db.example:5432/shop",
            ),
            ("postgresql://ann@h/shop", "postgresql://h/shop"),
            ("postgres://:secret@h/shop", "postgres://h/shop"),
            ("postgres://h/shop", "postgres://h/shop"),
            ("postgres://u:secret@[::1]:5433/shop", "postgres://[::1]:5433/shop"),
            ("postgres:///shop?host=/tmp", "postgres:///shop"),
            ("postgres://%2Ftmp/shop", "postgres://%2Ftmp/shop"),
            ("mysql://ann:secret@db.example:3306/shop?ssl-mode=x", "mysql://db.example:3306/shop"),
            ("mariadb://ann@h/shop", "mariadb://h/shop"),
            ("sqlite:app.db?key=secret", "sqlite:app.db"),
            ("sqlite://a/b.db", "sqlite://a/b.db"),
            ("sqlite:///var/a.db", "sqlite:///var/a.db"),
            ("sqlite:a#b.db", "sqlite:a#b.db"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("memory:", "memory:"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }

    #[test]
    fn nothing_that_may_be_a_password_is() {
        for url in [
            "postgres://rv:sek@ret:w/sek@localhost/q",
            "postgres://rv:sek?ret@localhost:55999/q",
            "postgres://rv:sek#ret@localhost:55999/q",
            "postgres://rv:se/k?ret@localhost:55999/q",
            "postgres:rv:sekret@localhost/q",
            "postgres:/rv:sekret@localhost/q",
            "postgres://localhost/q?password=x@sekret",
            "postgres://localhost/q#sekret",
            "postgres://localhost/q;password=sekret",
            "postgres://rv:sekret",
            "postgres://rv:sekret/q",
            "postgres://sekret@localhost/q",
            "PostGres://rv:sekret@localhost/q",
            "sqlite:x.db?key=sekret",
            "sqlite:x.db?sekret@y",
            "sqlite://rv:sekret@localhost/q",
            "SQLITE:rv:sek?ret@localhost/q",
            "file:x.db?key=sekret",
            "memory:sekret",
            "postgre://rv:sekret@localhost/q",
            "mysql:rv:sekret@localhost/q",
            "mysql://rv:sek?ret@localhost/q",
            "mariadb://rv:sekret",
            "sekret:x@localhost",
            "host=h password=sekret",
        ] {
            let text = shown(url);
            assert!(!text.contains("sek") && !text.contains("ret"), "{url} is shown as {text}");
        }
    }
}
