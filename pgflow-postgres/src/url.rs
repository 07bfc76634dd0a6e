//! Reading a URL, without ever repeating what it says.

use sqlx::postgres::PgConnectOptions;

use super::options::check_tls;
use pgflow_backend::backend::BackendError;

/// Why a URL can't be used.
#[derive(thiserror::Error)]
pub(super) enum BadUrl {
    #[error(
        "the URL of a Postgres database begins with `postgres://`: `postgres://user@host/database`"
    )]
    NoSlashes,
    #[error("this is not the URL of a Postgres database: {0}")]
    Syntax(String),
    #[error("a parameter of the URL has a value that it cannot have")]
    Parameter,
    #[cfg(not(feature = "tls"))]
    #[error(
        "the URL asks for an encrypted connection (`sslmode`), and this program was built without the \
         feature `tls` of pgflow"
    )]
    NoTls,
}

pgflow_model::debug_with_causes!(BadUrl);

impl From<BadUrl> for BackendError {
    fn from(error: BadUrl) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// Parameters that sqlx knows. It logs others with their value, which may be a secret.
const PARAMETERS: &[&str] = &[
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// Reads a URL.
pub(super) fn parse(url: &str) -> Result<PgConnectOptions, BackendError> {
    let options = read(url)?;
    check_tls(&options)?;
    Ok(options)
}

pub(super) fn read(url: &str) -> Result<PgConnectOptions, BadUrl> {
    if !url.contains("://") {
        return Err(BadUrl::NoSlashes);
    }
    known(url).parse().map_err(|error| why(url, &error))
}

/// sqlx repeats the value of a parameter that it can't use.
fn why(url: &str, error: &sqlx::Error) -> BadUrl {
    let place = url.split(['?', '#']).next().unwrap_or_default();
    match (place.parse::<PgConnectOptions>(), error) {
        (Ok(_), _) => BadUrl::Parameter,
        (Err(_), sqlx::Error::Configuration(source)) => BadUrl::Syntax(source.to_string()),
        (Err(error), _) => BadUrl::Syntax(error.to_string()),
    }
}

/// The URL with the parameters that sqlx knows.
fn known(url: &str) -> String {
    let Some((place, parameters)) = url.split_once('?') else { return url.to_owned() };
    let is_known = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        name.starts_with("options[") || PARAMETERS.contains(&name)
    };
    let all = parameters.split('&').count();
    let kept: Vec<&str> = parameters.split('&').filter(is_known).collect();
    if kept.len() < all {
        tracing::warn!("the database URL has parameters that are not known, and ignored");
    }
    format!("{place}?{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_sqlx_would_log_do_not_reach_it() {
        let url = "postgres://h/d?user=ann&sslpassword=secret&options[a]=b&ret@localhost/q";
        assert_eq!(known(url), "postgres://h/d?user=ann&options[a]=b");
        assert_eq!(known("postgres://h/d"), "postgres://h/d");
        assert_eq!(parse(url).expect("it can be read").get_username(), "ann");
    }

    #[test]
    fn a_url_has_slashes() {
        let error = parse("postgres:ann:secret@localhost/q").expect_err("it has none");
        let text = std::error::Error::source(&error).expect("a reason").to_string();
        assert!(text.contains("postgres://user@host/database") && !text.contains("secret"));
    }
}
