//! Which file, and how carefully.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::SqliteError;
use super::writer::LONGEST;
use pgflow_backend::shown::shown;

/// What SQLite can count in milliseconds: 24 days.
const LONGEST_BUSY: Duration = Duration::from_millis(i32::MAX as u64);

/// How to open a database file.
///
/// ```
/// use pgflow_sqlite::{Durability, SqliteOptions};
///
/// let options: SqliteOptions = "sqlite:app.db?synchronous=normal".parse()?;
/// assert_eq!(options, SqliteOptions::file("app.db").durability(Durability::Normal));
/// assert_eq!("sqlite::memory:".parse::<SqliteOptions>()?, SqliteOptions::memory());
/// assert!("sqlite:app.db?synchronous=off".parse::<SqliteOptions>().is_err());
/// # Ok::<(), pgflow_sqlite::SqliteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    pub(super) file: Option<PathBuf>,
    pub(super) durability: Durability,
    pub(super) busy_timeout: Duration,
    pub(super) readers: u32,
    pub(super) longest_tx: Duration,
}

/// What a commit survives.
///
/// ```
/// use pgflow_sqlite::Durability;
///
/// assert_eq!(Durability::default(), Durability::Full);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Every commit survives a power failure: `synchronous=FULL`.
    #[default]
    Full,
    /// A power failure may undo the last commits, never part of one; a crash of any process undoes none:
    /// `synchronous=NORMAL`. About five times as many small transactions per second.
    Normal,
}

impl SqliteOptions {
    /// A database in a file, which is created if it is missing. Its directory has to be there.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), ..Self::memory() }
    }

    /// A database of this process only, which ends with it.
    pub fn memory() -> Self {
        Self {
            file: None,
            durability: Durability::Full,
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            longest_tx: LONGEST,
        }
    }

    /// What a commit survives.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// How long one try to get the write lock waits for other processes. There are three tries.
    #[must_use]
    pub fn busy_timeout(self, busy_timeout: Duration) -> Self {
        Self { busy_timeout: busy_timeout.min(LONGEST_BUSY), ..self }
    }

    /// How many connections read, besides the one that writes.
    #[must_use]
    pub fn readers(self, readers: u32) -> Self {
        Self { readers: readers.max(1), ..self }
    }

    /// How long a step with `tx: &mut Tx` may take, 5 s, should its timeout allow for more: it has the write lock, and nobody
    /// else can start, claim or settle anything, or keep a lease. One that blocks its thread keeps it until it awaits or returns.
    #[must_use]
    pub fn longest_tx(self, longest_tx: Duration) -> Self {
        Self { longest_tx, ..self }
    }

    fn parameter(self, name: &str, value: &str) -> Result<Self, String> {
        match (name, value) {
            ("synchronous", "full") => Ok(self.durability(Durability::Full)),
            ("synchronous", "normal") => Ok(self.durability(Durability::Normal)),
            // What it is instead is not said: it may be the end of a password that nobody encoded.
            ("synchronous", _) => Err("`synchronous` is either `full` or `normal`".to_owned()),
            _ => {
                Err("it has a parameter that is not `synchronous`, the only one there is"
                    .to_owned())
            }
        }
    }
}

impl FromStr for SqliteOptions {
    type Err = SqliteError;

    /// From `sqlite:app.db`, `sqlite:///var/lib/app.db`, `file:app.db` or `sqlite::memory:`, and perhaps
    /// `?synchronous=normal`.
    fn from_str(url: &str) -> Result<Self, SqliteError> {
        parse(url).map_err(|why| SqliteError::InvalidUrl { url: shown(url), why })
    }
}

fn parse(url: &str) -> Result<SqliteOptions, String> {
    let is_ours =
        |scheme: &str| ["sqlite", "file"].iter().any(|ours| scheme.eq_ignore_ascii_case(ours));
    let rest = url.split_once(':').filter(|(scheme, _)| is_ours(scheme)).map(|(_, rest)| rest);
    let rest = rest.ok_or("it begins with neither `sqlite:` nor `file:`")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    // A name that begins or ends with a blank would be a mistake that nobody sees.
    let options = match path.trim() {
        "" => return Err("it names no file".to_owned()),
        ":memory:" => SqliteOptions::memory(),
        path => SqliteOptions::file(path),
    };
    let pairs = parameters.split('&').filter(|pair| !pair.is_empty());
    let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.try_fold(options, |options, (name, value)| options.parameter(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_file_are_one() {
        let urls = [
            "sqlite:a/b.db",
            "sqlite://a/b.db",
            "file:a/b.db",
            "sqlite:a/b.db?synchronous=full",
            "SQLITE:a/b.db",
            "sqlite: a/b.db",
        ];
        for url in urls {
            assert_eq!(
                url.parse::<SqliteOptions>().unwrap(),
                SqliteOptions::file("a/b.db"),
                "{url}"
            );
        }
        let absolute = "sqlite:///a.db".parse::<SqliteOptions>().unwrap();
        assert_eq!(absolute, SqliteOptions::file("/a.db"));
    }

    #[test]
    fn what_is_no_url_says_why() {
        let why = |url: &str| url.parse::<SqliteOptions>().unwrap_err().to_string();
        assert!(why("").contains("neither"));
        assert!(why("sqlite:").contains("names no file"));
        assert!(why("sqlite:a.db?mode=ro").contains("the only one there is"));
    }

    #[test]
    fn no_password_is_ever_shown() {
        for url in [
            "sqlite:x.db?key=secret",
            "sqlite:x.db?secret",
            "sqlite:x.db?synchronous=secret",
            "sqlite://ann:a?secret@h/x.db",
            "postgres://ann:secret@h/shop",
        ] {
            let error = url.parse::<SqliteOptions>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
