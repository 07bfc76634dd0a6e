//! What is found at the other end of a URL.

use std::io;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::connections::connect;
use super::error::{code, translate};
use super::options::{Durability, Pooling, PostgresOptions};
use super::probe::keeps_session;
use super::url::parse;
use pgflow_backend::backend::BackendError;

/// The ways to a database.
pub(super) struct Reached {
    /// For the engine and for steps.
    pub(super) main: PgConnectOptions,
    /// Whether a pooler on that way gives each transaction to another session.
    pub(super) is_pooled: bool,
    /// For what takes long or needs a session.
    pub(super) direct: PgConnectOptions,
    /// Whether there is a pooler on that way as well.
    pub(super) direct_is_pooled: bool,
}

/// Looks who is there.
pub(super) async fn reach(
    main: PgConnectOptions,
    options: &PostgresOptions,
) -> Result<Reached, BackendError> {
    let main = plain(main);
    let (main, is_pooled) = look(main, options).await?;
    let Some(url) = &options.listen_url else {
        return Ok(Reached { direct: main.clone(), direct_is_pooled: is_pooled, main, is_pooled });
    };
    let direct = plain(parse(url)?);
    let kept = keeps_session(&direct).await.map_err(|error| why_not_open(error, &direct))?;
    let direct = if kept { direct } else { direct.statement_cache_capacity(0) };
    Ok(Reached { main, is_pooled, direct, direct_is_pooled: !kept })
}

/// What every connection of ours has.
fn plain(options: PgConnectOptions) -> PgConnectOptions {
    // A pooler may not know this setting, and no current server needs it. sqlx would warn of slow statements, with
    // their whole text: what is slow here is said in spans and metrics.
    options.extra_float_digits(None).disable_statement_logging()
}

/// How to connect, and whether a pooler gives each transaction to another session.
async fn look(
    plain: PgConnectOptions,
    options: &PostgresOptions,
) -> Result<(PgConnectOptions, bool), BackendError> {
    if options.pooling == Pooling::Transactions {
        return Ok((plain.statement_cache_capacity(0), true));
    }
    let set_up = set_up(plain.clone(), options.durability);
    let found = match is_pooled(&set_up, options.pooling).await {
        // PgBouncer takes no settings, also when it leaves sessions alone.
        Err(error) if code(&error).as_deref() == Some("08P01") => {
            is_pooled(&plain, options.pooling).await.map(|is_pooled| (plain.clone(), is_pooled))
        }
        found => found.map(|is_pooled| (set_up, is_pooled)),
    };
    match found.map_err(|error| why_not_open(error, &plain))? {
        (_, true) => Ok((plain.statement_cache_capacity(0), true)),
        found => Ok(found),
    }
}

async fn is_pooled(options: &PgConnectOptions, pooling: Pooling) -> Result<bool, sqlx::Error> {
    if pooling == Pooling::Detect {
        return keeps_session(options).await.map(|kept| !kept);
    }
    connect(options).await?.close().await?;
    Ok(false)
}

/// Settings of a session, where sessions are ours.
fn set_up(main: PgConnectOptions, durability: Durability) -> PgConnectOptions {
    // The server, too, is to notice a client that is gone, and drop the locks of its transaction.
    let main = main.options([
        ("tcp_keepalives_idle", "15"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "3"),
    ]);
    match durability {
        Durability::Server => main,
        Durability::Relaxed => main.options([("synchronous_commit", "off")]),
    }
}

/// A certificate that is not accepted, or not there, will not be the next time either, though it looks like a
/// broken connection. Later on it counts as one: by then it was accepted before.
fn why_not_open(error: sqlx::Error, options: &PgConnectOptions) -> BackendError {
    let refused = |error| BackendError::Refused(Box::new(sqlx::Error::Tls(error)));
    let is_remote = options.get_socket().is_none();
    match error {
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            refused(error.into())
        }
        sqlx::Error::Io(error) if is_remote && error.kind() == io::ErrorKind::NotFound => {
            refused(format!("a file that the URL names (`sslrootcert`, …): {error}").into())
        }
        error => translate(error),
    }
}
