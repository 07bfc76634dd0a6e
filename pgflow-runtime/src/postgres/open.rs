//! Connecting.

use std::fmt;
use std::sync::Arc;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgPool};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::connections::connect;
use super::engine::Engine;
use super::error::{code, translate};
use super::options::{Durability, Pooling, PostgresOptions, check_tls, parse};
use super::place::Place;
use super::probe::keeps_session;
use super::routes::Routes;
use super::start_many::Starts;
use super::wake::{Bell, Side};
use super::workers::Workers;
use crate::backend::BackendError;

/// Runs in a Postgres database.
///
/// A process has at most [`engine_connections`](PostgresOptions::engine_connections) (2) connections for
/// the engine, one for hints, and for `tx` steps as many as run at once, up to
/// [`tx_connections`](PostgresOptions::tx_connections) (4). None of them is shared with the
/// application's own queries, so neither can starve the other.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use pgflow_runtime::backend::Backend;
/// use pgflow_runtime::postgres::Postgres;
///
/// let postgres = Postgres::connect("postgres://localhost/shop").await?;
/// postgres.migrate().await?;
/// # Ok(())
/// # }
/// ```
pub struct Postgres {
    pub(super) engine: Engine,
    /// Where `tx` steps run.
    pub(super) steps: PgPool,
    /// Whether `steps` is ours to close.
    pub(super) owns_steps: bool,
    /// For what takes long or needs a session.
    pub(super) direct: PgConnectOptions,
    /// There is no direct way.
    pub(super) direct_is_pooled: bool,
    pub(super) bell: Arc<Bell>,
    pub(super) routes: Routes,
    pub(super) workers: Workers,
    pub(super) starts: Starts,
    /// Ends the task that sends and receives hints.
    pub(super) stop: CancellationToken,
    _side: DropGuard,
}

impl Postgres {
    /// Connects with the default options.
    pub async fn connect(url: &str) -> Result<Self, BackendError> {
        Self::open(PostgresOptions::new(url)).await
    }

    /// Connects.
    pub async fn open(options: PostgresOptions) -> Result<Self, BackendError> {
        let main = parse(&options.url)?;
        Self::start(main, None, &options).await
    }

    /// For an application with a pool of its own: `tx` steps take their connections from it, as many
    /// as it has left. The engine opens its own, with the pool's options: it could not
    /// keep its promises on connections that somebody else may hold for long.
    pub async fn with_pool(pool: PgPool) -> Result<Self, BackendError> {
        let main = PgConnectOptions::clone(&pool.connect_options());
        check_tls(&main)?;
        Self::start(main, Some(pool), &PostgresOptions::new("")).await
    }

    async fn start(
        main: PgConnectOptions,
        steps: Option<PgPool>,
        options: &PostgresOptions,
    ) -> Result<Self, BackendError> {
        // A pooler may not know this setting, and no current server needs it.
        let main = main.extra_float_digits(None);
        let direct = options.listen_url.as_deref().map(parse).transpose()?;
        let direct = direct.map(|direct| direct.extra_float_digits(None));
        let (main, is_pooled) = reach(main, options).await.map_err(translate)?;
        let may_listen = match &direct {
            Some(direct) => keeps_session(direct).await.map_err(translate)?,
            None => !is_pooled,
        };
        if !may_listen {
            tracing::warn!(
                "a pooler shares sessions between transactions, so there are no hints from other processes: \
                 workers look once a second; set PGFLOW_LISTEN_URL to a direct connection for speed"
            );
        }
        let direct_is_pooled = is_pooled && direct.is_none();
        let direct = direct.unwrap_or_else(|| main.clone());
        let bell = Arc::new(Bell::new());
        let stop = CancellationToken::new();
        let side = Side {
            bell: Arc::clone(&bell),
            options: direct.clone(),
            may_listen,
            is_pooled: direct_is_pooled,
            check_every: options.check_listener_every,
        };
        side.spawn(stop.clone());
        let max = options.engine_connections as usize;
        Ok(Self {
            engine: Engine::new(&main, max, is_pooled, options.answer_within),
            owns_steps: steps.is_none(),
            steps: steps.unwrap_or_else(|| steps_pool(options.tx_connections, main)),
            direct,
            direct_is_pooled,
            bell,
            routes: Routes::default(),
            workers: Workers::default(),
            starts: Starts::default(),
            stop: stop.clone(),
            _side: stop.drop_guard(),
        })
    }
}

/// How to connect, and whether a pooler gives each transaction to another session.
async fn reach(
    plain: PgConnectOptions,
    options: &PostgresOptions,
) -> Result<(PgConnectOptions, bool), sqlx::Error> {
    if options.pooling == Pooling::Transactions {
        return Ok((plain.statement_cache_capacity(0), true));
    }
    let set_up = set_up(plain.clone(), options.durability);
    match is_pooled(&set_up, options.pooling).await {
        Ok(false) => return Ok((set_up, false)),
        Ok(true) => {}
        // PgBouncer takes no settings, also when it leaves sessions alone.
        Err(error) if code(&error).as_deref() == Some("08P01") => {
            if !is_pooled(&plain, options.pooling).await? {
                return Ok((plain, false));
            }
        }
        Err(error) => return Err(error),
    }
    Ok((plain.statement_cache_capacity(0), true))
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

fn steps_pool(max: u32, options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new().max_connections(max.max(1)).connect_lazy_with(options)
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("at", &Place::of(&self.direct)).finish_non_exhaustive()
    }
}
