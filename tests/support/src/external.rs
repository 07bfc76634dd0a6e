//! A server that somebody else runs.

use sqlx::{Connection, PgConnection};

/// `PGFLOW_TEST_POSTGRES_URL`; never printed, it may hold a password.
#[derive(Clone)]
pub(crate) struct Url(String);

impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Url")
    }
}

pub(crate) fn url() -> Option<Url> {
    std::env::var("PGFLOW_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty()).map(Url)
}

impl Url {
    /// As the server says.
    pub(crate) async fn version_num(&self) -> u32 {
        let mut connection =
            PgConnection::connect(&self.with_database("postgres")).await.expect("cannot connect");
        let version: i32 = sqlx::query_scalar("select current_setting('server_version_num')::int")
            .fetch_one(&mut connection)
            .await
            .expect("cannot ask for the version");
        version.unsigned_abs()
    }

    /// The same server, another database: `scheme://authority/` stays, and so does `?…`.
    pub(crate) fn with_database(&self, db: &str) -> String {
        let (address, query) = match self.0.split_once('?') {
            Some((address, query)) => (address, format!("?{query}")),
            None => (self.0.as_str(), String::new()),
        };
        let authority = address.find("://").map_or(0, |at| at + 3);
        let end = address[authority..].find('/').map_or(address.len(), |at| authority + at);
        format!("{}/{db}{query}", &address[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn only_the_database_is_replaced() {
        let with = |url: &str| Url(url.into()).with_database("t");
        assert_eq!(
            with("postgres://u:p@h:1/db?sslmode=disable"),
            "postgres://u:p@h:1/t?sslmode=disable"
        );
        assert_eq!(with("postgres://h"), "postgres://h/t");
        assert_eq!(with("postgresql:///db?host=/tmp/a"), "postgresql:///t?host=/tmp/a");
    }
}
