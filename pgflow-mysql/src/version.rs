//! Which server it is.

use std::fmt;

use crate::MySqlError;

/// A server and its version.
///
/// ```
/// use pgflow_mysql::Version;
///
/// let version: Version = "10.11.6-MariaDB-0+deb12u1".parse()?;
/// assert_eq!(version.to_string(), "MariaDB 10.11.6");
/// # Ok::<(), pgflow_mysql::MySqlError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Whether it is MariaDB.
    pub is_mariadb: bool,
    /// Major, minor and patch.
    pub numbers: [u16; 3],
}

impl Version {
    /// Whether everything that pgflow uses is there: `SKIP LOCKED`, `JSON_TABLE`, checks, and what goes with them.
    pub(crate) fn check(self) -> Result<Self, MySqlError> {
        let least = if self.is_mariadb { [10, 6, 0] } else { [8, 0, 22] };
        if self.numbers < least { Err(MySqlError::TooOld { found: self }) } else { Ok(self) }
    }
}

impl std::str::FromStr for Version {
    type Err = MySqlError;

    /// From what `version()` returns.
    fn from_str(said: &str) -> Result<Self, MySqlError> {
        let is_mariadb = said.to_ascii_lowercase().contains("mariadb");
        // Some MariaDBs put this in front, for clients that can count to 5 only.
        let text = said.strip_prefix("5.5.5-").filter(|_| is_mariadb).unwrap_or(said);
        let text = text.split(['-', '+', '_', ' ']).next().unwrap_or_default();
        let numbers: Option<Vec<u16>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some([major, minor, patch, ..]) => {
                Ok(Self { is_mariadb, numbers: [*major, *minor, *patch] })
            }
            _ => Err(MySqlError::NoVersion { said: said.chars().take(80).collect() }),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        let name = if self.is_mariadb { "MariaDB" } else { "MySQL" };
        write!(f, "{name} {major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_servers_say_them() {
        for (said, expected) in [
            ("10.11.14-MariaDB-0+deb12u2", "MariaDB 10.11.14"),
            ("5.5.5-10.6.16-MariaDB-log", "MariaDB 10.6.16"),
            ("11.4.2-MariaDB", "MariaDB 11.4.2"),
            ("8.0.36-0ubuntu0.22.04.1", "MySQL 8.0.36"),
            ("8.4.0", "MySQL 8.4.0"),
            ("9.1.0-commercial", "MySQL 9.1.0"),
        ] {
            let version: Version = said.parse().expect(said);
            assert_eq!(version.to_string(), expected);
            assert_eq!(version.check().expect("it is new enough"), version);
        }
    }

    #[test]
    fn what_is_too_old_is_refused_with_both_versions() {
        for said in [
            "10.5.23-MariaDB",
            "5.5.5-10.3.9-MariaDB",
            "8.0.21",
            "5.7.44-log",
            "8.0.11-TiDB-v7.5.0",
        ] {
            let error = said.parse::<Version>().and_then(Version::check).expect_err(said);
            let text = error.to_string();
            assert!(text.contains("10.6") && text.contains("8.0.22"), "{text}");
        }
        for said in ["", "eight", "8", "8.0"] {
            assert!(matches!(said.parse::<Version>(), Err(MySqlError::NoVersion { .. })), "{said}");
        }
    }
}
