//! Where a database is, for people: without the password.

use std::fmt;

use sqlx::postgres::PgConnectOptions;

/// `app@db.example:5432/shop`.
pub(super) struct ShownAddress(Option<PgConnectOptions>);

impl ShownAddress {
    pub(super) fn of(options: &PgConnectOptions) -> Self {
        Self(Some(options.clone()))
    }

    pub(super) fn of_url(url: &str) -> Self {
        Self(super::url::read(url).ok())
    }
}

impl fmt::Debug for ShownAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(options) = &self.0 else { return f.write_str("(not a valid URL)") };
        write!(f, "{}@", options.get_username())?;
        match options.get_socket() {
            Some(socket) => write!(f, "{}", socket.display())?,
            None => write!(f, "{}:{}", options.get_host(), options.get_port())?,
        }
        write!(f, "/{}", options.get_database().unwrap_or_default())
    }
}
