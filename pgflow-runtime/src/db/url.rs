//! Which database a URL means.

use super::suggest::suggest;

/// Schemes and what they mean.
const SCHEMES: &[(&str, Kind)] = &[
    ("postgres", Kind::Postgres),
    ("postgresql", Kind::Postgres),
    ("sqlite", Kind::Sqlite),
    ("file", Kind::Sqlite),
    ("mysql", Kind::MySql),
    ("mariadb", Kind::MySql),
    ("memory", Kind::Memory),
];

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Postgres,
    Sqlite,
    MySql,
    Memory,
}

/// Why a text does not say which database to use. Never holds the text itself, since that may hold a
/// password.
///
/// ```
/// assert!(pgflow::client::UrlError::NotGiven.to_string().contains("PGFLOW_DATABASE_URL"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// None was named.
    #[error(
        "no database was given\nhelp: set PGFLOW_DATABASE_URL, for example to `sqlite:app.db` or `postgres://localhost/app`"
    )]
    NotGiven,
    /// It is empty.
    #[error(
        "{source_name} is empty\nhelp: it must be a URL such as `sqlite:app.db` or `postgres://localhost/app`"
    )]
    Empty {
        /// Where it came from.
        source_name: String,
    },
    /// It has no scheme.
    #[error(
        "the database URL has no scheme\nhelp: write `sqlite:path/to/file.db` for a file, or `postgres://user@host/database`"
    )]
    NoScheme,
    /// It is that of a server, without the slashes.
    #[error(
        "the URL of a server's database begins with `{scheme}://`\nhelp: write `{scheme}://user@host/database`"
    )]
    NoSlashes {
        /// Its scheme.
        scheme: String,
    },
    /// It names no file.
    #[error("the database URL names no file\nhelp: write for example `sqlite:app.db`")]
    NoFile,
    /// Another scheme.
    #[error("there is no database of scheme `{scheme}:`\nhelp: {}", help(.suggestion.as_deref()))]
    Unknown {
        /// The scheme.
        scheme: String,
        /// One that is like it.
        suggestion: Option<String>,
    },
    /// The program was built without it.
    #[error(
        "this program was built without `{scheme}:`\nhelp: enable the feature `{feature}` of the crate `pgflow`"
    )]
    FeatureOff {
        /// The scheme.
        scheme: String,
        /// What to enable.
        feature: &'static str,
    },
    /// Names of queues have no prefix.
    #[error(
        "WORKFLOW_POSTGRES_JOB_PREFIX is `{prefix}`, and names of queues and needs have no prefix here\nhelp: give each environment a database of its own, and unset the variable"
    )]
    Prefix {
        /// What the variable holds.
        prefix: String,
    },
}

pgflow_model::debug_with_causes!(UrlError);

fn help(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(
        || "use `postgres://…`, `mysql://…`, `sqlite:…` or, for tests, `memory:`".to_owned(),
        |scheme| format!("did you mean `{scheme}:`?"),
    )
}

/// What a URL means.
pub(super) fn kind(url: &str) -> Result<Kind, UrlError> {
    let Some((scheme, rest)) = url.split_once(':') else { return Err(UrlError::NoScheme) };
    if !is_scheme(scheme) {
        return Err(UrlError::NoScheme);
    }
    let scheme = scheme.to_ascii_lowercase();
    match SCHEMES.iter().find(|(known, _)| *known == scheme) {
        Some((_, Kind::Sqlite)) if rest.trim_start_matches('/').is_empty() => Err(UrlError::NoFile),
        Some((_, Kind::Postgres | Kind::MySql)) if !rest.starts_with("//") => {
            Err(UrlError::NoSlashes { scheme })
        }
        Some((_, kind)) => enabled(*kind, scheme),
        None => {
            let suggestion = suggest(&scheme, SCHEMES.iter().map(|(known, _)| *known));
            if suggestion.is_none() && rest.contains('@') && !rest.starts_with("//") {
                // `user:password@host`: not a word of it may be shown.
                return Err(UrlError::NoScheme);
            }
            Err(UrlError::Unknown { scheme, suggestion: suggestion.map(str::to_owned) })
        }
    }
}

/// As RFC 3986 has it, and more than a letter: `C:\data` is a path.
fn is_scheme(text: &str) -> bool {
    let mut letters = text.chars();
    text.len() > 1
        && letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn enabled(kind: Kind, scheme: String) -> Result<Kind, UrlError> {
    match kind {
        Kind::Postgres if !cfg!(feature = "postgres") => {
            Err(UrlError::FeatureOff { scheme, feature: "postgres" })
        }
        Kind::MySql if !cfg!(feature = "mysql") => {
            Err(UrlError::FeatureOff { scheme, feature: "mysql" })
        }
        Kind::Sqlite if !cfg!(feature = "sqlite") => {
            Err(UrlError::FeatureOff { scheme, feature: "sqlite" })
        }
        _ => Ok(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_its_database() {
        if cfg!(feature = "postgres") {
            assert_eq!(kind("postgres://localhost/a"), Ok(Kind::Postgres));
            assert_eq!(kind("PostgreSQL://localhost/a"), Ok(Kind::Postgres));
        }
        if cfg!(feature = "mysql") {
            assert_eq!(kind("mysql://localhost/a"), Ok(Kind::MySql));
            assert_eq!(kind("MariaDB://localhost/a"), Ok(Kind::MySql));
        }
        if cfg!(feature = "sqlite") {
            for url in ["sqlite:a.db", "sqlite://a.db", "sqlite::memory:", "file:a.db?mode=ro"] {
                assert_eq!(kind(url), Ok(Kind::Sqlite), "{url}");
            }
            assert_eq!(kind("sqlite:"), Err(UrlError::NoFile));
            assert_eq!(kind("sqlite://"), Err(UrlError::NoFile));
        }
        assert_eq!(kind("memory:"), Ok(Kind::Memory));
    }

    #[test]
    fn what_is_switched_off_says_what_to_switch_on() {
        if !cfg!(feature = "sqlite") {
            let error = kind("sqlite:a.db").unwrap_err().to_string();
            assert!(error.ends_with("help: enable the feature `sqlite` of the crate `pgflow`"));
        }
    }

    #[test]
    fn typos_are_answered() {
        let cases = [
            ("postgre://u:secret@h/d", "postgres"),
            ("postgress://u:secret@h/d", "postgres"),
            ("postgressql://u:secret@h/d", "postgresql"),
            ("sqlite3:a.db", "sqlite"),
            ("sqllite:a.db", "sqlite"),
            ("mem:", "memory"),
            ("mysq://u:secret@h/d", "mysql"),
            ("maria://u:secret@h/d", "mariadb"),
            ("pg://u:secret@h/d", "postgres"),
            ("psql://u:secret@h/d", "postgres"),
        ];
        for (url, meant) in cases {
            let error = kind(url).expect_err(url).to_string();
            assert!(error.ends_with(&format!("help: did you mean `{meant}:`?")), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn nothing_else_is_taken_for_a_file() {
        for url in ["app.db", "/var/app.db", "C:\\app.db", "host=h password=secret", ":memory:"] {
            let error = kind(url).expect_err(url);
            assert_eq!(error, UrlError::NoScheme);
        }
        assert!(matches!(kind("http://h"), Err(UrlError::Unknown { suggestion: None, .. })));
    }

    #[test]
    fn a_url_of_a_server_has_slashes() {
        for url in [
            "postgres:ann:secret@h/d",
            "postgres:/ann:secret@h/d",
            "PostgreSQL:h/d",
            "mysql:ann:secret@h/d",
        ] {
            let error = kind(url).expect_err(url);
            assert!(matches!(error, UrlError::NoSlashes { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("help: write `") && text.contains("://user@host/"), "{text}");
            assert!(!format!("{text}{error:?}").contains("secret"), "{text}");
        }
    }

    #[test]
    fn a_user_is_not_taken_for_a_scheme() {
        let error = kind("tok3n:secret@h/d").expect_err("it has none");
        assert_eq!(error, UrlError::NoScheme);
    }
}
