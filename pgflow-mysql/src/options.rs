//! Where the server is, and how carefully it has to keep what it is given.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use pgflow_backend::shown::shown;
use sqlx::ConnectOptions as _;
use sqlx::mysql::MySqlConnectOptions;

use crate::MySqlError;

/// How to connect to MySQL or MariaDB.
///
/// ```
/// use pgflow_mysql::{Durability, MySqlOptions};
///
/// let options: MySqlOptions = "mysql://app:secret@db.example/shop?durability=strict".parse()?;
/// assert!(!format!("{options:?}").contains("secret"));
/// assert!("mysql://app@db.example".parse::<MySqlOptions>().is_err(), "it names no database");
/// # let _ = options.durability(Durability::Server);
/// # Ok::<(), pgflow_mysql::MySqlError>(())
/// ```
#[derive(Clone)]
pub struct MySqlOptions {
    pub(crate) connect: MySqlConnectOptions,
    /// What of the URL may be shown.
    pub(crate) place: String,
    pub(crate) durability: Durability,
    pub(crate) connections: u32,
    pub(crate) tx_connections: u32,
    pub(crate) answer_within: Duration,
    pub(crate) lock_wait: Duration,
}

/// What a commit survives.
///
/// ```
/// use pgflow_mysql::Durability;
///
/// assert_eq!(Durability::default(), Durability::Server);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// What the server is set up for; a warning says when that is less than a power failure.
    #[default]
    Server,
    /// A power failure. A server that is not set up for it is refused.
    Strict,
}

impl MySqlOptions {
    /// Whether a server that may lose commits is only warned about, or refused.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Connections for claims, results, heartbeats and the client's calls: 4. Besides these there is one for hints.
    #[must_use]
    pub fn connections(self, connections: u32) -> Self {
        Self { connections: connections.max(2), ..self }
    }

    /// Connections for steps that share a transaction with the record of their completion: 4. As many such steps run
    /// at once.
    #[must_use]
    pub fn tx_connections(self, connections: u32) -> Self {
        Self { tx_connections: connections.max(1), ..self }
    }

    /// How long a lock of another transaction is waited for, in whole seconds: 5 s. There are two tries.
    #[must_use]
    pub fn lock_wait(self, lock_wait: Duration) -> Self {
        Self { lock_wait, ..self }
    }

    /// How long the server may take to answer a call before it counts as gone: 30 s.
    #[must_use]
    pub fn answer_within(self, answer_within: Duration) -> Self {
        Self { answer_within, ..self }
    }
}

impl fmt::Debug for MySqlOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MySqlOptions")
            .field("place", &self.place)
            .field("durability", &self.durability)
            .field("connections", &self.connections)
            .field("tx_connections", &self.tx_connections)
            .field("answer_within", &self.answer_within)
            .field("lock_wait", &self.lock_wait)
            .finish_non_exhaustive()
    }
}

impl FromStr for MySqlOptions {
    type Err = MySqlError;

    /// From `mysql://user:password@host:port/database` or `mariadb://…`, and perhaps `?durability=strict`,
    /// `?socket=/path`, `?ssl-mode=REQUIRED` and what else sqlx knows of encryption.
    fn from_str(url: &str) -> Result<Self, MySqlError> {
        read(url).map_err(|why| MySqlError::InvalidUrl { url: shown(url), why })
    }
}

/// Parameters that go to sqlx. It sets the character set and the time zone too, but those are ours to choose.
const OF_SQLX: &[&str] = &[
    "socket",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "sslca",
    "sslcert",
    "sslkey",
    "sslmode",
    "statement-cache-capacity",
];

fn read(url: &str) -> Result<MySqlOptions, String> {
    let is_ours =
        |scheme: &str| ["mysql", "mariadb"].iter().any(|ours| scheme.eq_ignore_ascii_case(ours));
    let rest = url.split_once("://").filter(|(scheme, _)| is_ours(scheme)).map(|(_, rest)| rest);
    let rest = rest.ok_or("it begins with neither `mysql://` nor `mariadb://`")?;
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (kept, durability) = parameters_of(parameters)?;
    // What sqlx says may repeat a value.
    let whole = format!("mysql://{place}?{}", kept.join("&"));
    let connect: MySqlConnectOptions =
        whole.parse().map_err(|_| "it has a part, or a parameter a value, that it cannot have")?;
    if connect.get_database().is_none_or(str::is_empty) {
        return Err("it names no database: `mysql://user@host/database`".to_owned());
    }
    Ok(MySqlOptions {
        connect: connect
            .charset("utf8mb4")
            .collation("utf8mb4_bin")
            // All of the session is set at once by `session`, and looked at.
            .set_names(false)
            .timezone(None)
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .disable_statement_logging(),
        place: shown(url),
        durability,
        connections: 4,
        tx_connections: 4,
        answer_within: Duration::from_secs(30),
        lock_wait: Duration::from_secs(5),
    })
}

/// What sqlx is given, and what is ours.
fn parameters_of(parameters: &str) -> Result<(Vec<&str>, Durability), String> {
    let (mut kept, mut durability) = (Vec::new(), Durability::Server);
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=').unwrap_or((parameter, "")) {
            ("durability", "strict") => durability = Durability::Strict,
            ("durability", "server") => durability = Durability::Server,
            ("durability", _) => return Err("`durability` is either `server` or `strict`".into()),
            (name, _) if OF_SQLX.contains(&name) => kept.push(parameter),
            // Not which: it may be the end of a password that nobody encoded.
            _ => tracing::warn!("the database URL has a parameter that is not known, and ignored"),
        }
    }
    Ok((kept, durability))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> MySqlOptions {
        url.parse().unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn both_schemes_are_read() {
        for url in [
            "mysql://ann:pw@h:3307/shop",
            "mariadb://ann:pw@h:3307/shop",
            "MySQL://ann:pw@h:3307/shop?charset=latin1",
        ] {
            let connect = read(url).connect;
            assert_eq!((connect.get_host(), connect.get_port()), ("h", 3307));
            assert_eq!(connect.get_database(), Some("shop"));
            assert_eq!(connect.get_username(), "ann");
            assert_eq!(
                (connect.get_charset(), connect.get_collation()),
                ("utf8mb4", Some("utf8mb4_bin"))
            );
        }
        assert_eq!(
            read("mysql://h/d?socket=/tmp/s").connect.get_socket().unwrap().to_str(),
            Some("/tmp/s")
        );
        assert_eq!(read("mysql://h/d?durability=strict").durability, Durability::Strict);
        assert_eq!(read("mysql://h/d").durability, Durability::Server);
    }

    #[test]
    fn what_is_no_url_says_why() {
        let why = |url: &str| url.parse::<MySqlOptions>().unwrap_err().to_string();
        assert!(why("mysql:h/d").contains("`mysql://`"));
        assert!(why("postgres://h/d").contains("neither"));
        assert!(why("mysql://h").contains("names no database"));
        assert!(why("mysql://h/").contains("names no database"));
        assert!(why("mysql://h/d?durability=maybe").contains("`strict`"));
    }

    #[test]
    fn no_password_is_ever_shown() {
        for url in [
            "mysql://ann:secret@h/shop",
            "mysql://ann:secret@h/shop?durability=secret",
            "mysql://ann:secret@h:port/shop",
            "mysql://ann:secret@h",
            "mysql:ann:secret@h/shop",
            "mysql://ann:a?secret@h/shop",
            "mysql://ann@h/shop?ssl-mode=secret",
            "postgres://ann:secret@h/shop",
        ] {
            let text = match url.parse::<MySqlOptions>() {
                Ok(options) => format!("{options:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!text.contains("secret"), "{url}: {text}");
        }
    }
}
