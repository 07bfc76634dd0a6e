//! How migration files are called, which depends on the tool that applies them.

use std::fmt;
use std::str::FromStr;

/// How migration files are called.
///
/// ```
/// use pgflow_build::Style;
///
/// assert_eq!(Style::Sqlx.file_name(7, 4, "create_orders"), "0007_create_orders.sql");
/// assert_eq!(Style::Refinery.file_name(7, 1, "create_orders"), "V7__create_orders.sql");
/// assert_eq!(Style::Sqlx.number("20260101120000_users.sql"), Some(20_260_101_120_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Style {
    /// `0001_create_orders.sql`, for sqlx.
    #[default]
    Sqlx,
    /// `V1__create_orders.sql`, for refinery.
    Refinery,
    /// `0001_create_orders.sql`, each in a transaction of its own, for `psql -f`.
    Plain,
}

impl Style {
    /// Every style.
    pub const ALL: [Self; 3] = [Self::Sqlx, Self::Refinery, Self::Plain];

    /// Its name in `pgflow.lock` and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlx => "sqlx",
            Self::Refinery => "refinery",
            Self::Plain => "plain",
        }
    }

    /// The name of the file of that number, of at least that many digits.
    pub fn file_name(self, number: u64, digits: usize, title: &str) -> String {
        match self {
            Self::Sqlx | Self::Plain => format!("{number:0digits$}_{title}.sql"),
            Self::Refinery => format!("V{number}__{title}.sql"),
        }
    }

    /// The number of a file, if it has one in this style.
    pub fn number(self, name: &str) -> Option<u64> {
        // Tools keep it as a signed number, and there has to be one after it.
        digits(self, name)?.parse().ok().filter(|number| *number < i64::MAX.unsigned_abs())
    }

    /// How many digits the number of a file has.
    pub(crate) fn digits(self, name: &str) -> usize {
        digits(self, name).map_or(0, str::len)
    }

    /// The whole file for these statements.
    pub(crate) fn wrap(self, header: &str, statements: &str) -> String {
        match self {
            Self::Sqlx | Self::Refinery => format!("{header}{statements}"),
            Self::Plain => format!("{header}begin;\n{statements}commit;\n"),
        }
    }

    /// The file without its own transaction, for whoever brings one.
    pub(crate) fn unwrap(self, text: &str) -> String {
        match self {
            Self::Sqlx | Self::Refinery => text.to_owned(),
            Self::Plain => {
                let text = text.strip_suffix("commit;\n").unwrap_or(text);
                text.replacen("\nbegin;\n", "\n", 1)
            }
        }
    }
}

fn digits(style: Style, name: &str) -> Option<&str> {
    let (name, kind) = name.rsplit_once('.')?;
    match style {
        Style::Sqlx | Style::Plain if kind == "sql" => Some(name.split_once('_')?.0),
        // It takes migrations that are Rust too.
        Style::Refinery if kind == "sql" || kind == "rs" => {
            Some(name.strip_prefix(['V', 'U'])?.split_once("__")?.0)
        }
        _ => None,
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A style that does not exist.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no style `{0}`: it is one of `sqlx`, `refinery` and `plain`")]
pub struct UnknownStyle(String);

impl FromStr for Style {
    type Err = UnknownStyle;

    fn from_str(name: &str) -> Result<Self, UnknownStyle> {
        let style = Self::ALL.into_iter().find(|style| style.name() == name);
        style.ok_or_else(|| UnknownStyle(name.to_owned()))
    }
}
