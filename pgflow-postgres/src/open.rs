//! Connecting.

use std::fmt;
use std::sync::{Arc, Mutex};

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::address::ShownAddress;
use super::engine::Engine;
use super::flows_of_runs::FlowsOfRuns;
use super::options::{PostgresOptions, check_tls};
use super::reach::{Reached, reach};
use super::start_many::Starts;
use super::url::parse;
use super::wake::{Bell, HintListener};
use super::workers::Workers;
use pgflow_backend::backend::BackendError;
use pgflow_backend::store::Cursors;

/// Runs in a Postgres database.
///
/// A process has at most [`engine_connections`](PostgresOptions::engine_connections) (2) connections for
/// the engine, one for hints, and for `tx` steps as many as run at once, up to
/// [`tx_connections`](PostgresOptions::tx_connections) (4). None of them is shared with the
/// application's own queries, so neither can starve the other.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use pgflow_backend::backend::Backend;
/// use pgflow_postgres::Postgres;
///
/// let postgres = Postgres::connect("postgres://localhost/shop").await?;
/// postgres.migrate().await?;
/// # Ok(())
/// # }
/// ```
pub struct Postgres {
    pub(super) engine: Arc<Engine>,
    /// Where `tx` steps run.
    pub(super) steps: PgPool,
    /// Whether `steps` is ours to close.
    pub(super) owns_steps: bool,
    /// For what takes long or needs a session.
    pub(super) direct: PgConnectOptions,
    /// There is no direct way.
    pub(super) direct_is_pooled: bool,
    pub(super) bell: Arc<Bell>,
    pub(super) flows_of_runs: FlowsOfRuns,
    pub(super) workers: Workers,
    pub(super) starts: Starts,
    /// How far claims have looked at queues.
    pub(super) cursors: Cursors,
    /// What payloads of jobs may be, once somebody has asked.
    pub(super) job_limits: Mutex<Option<pgflow_machine::Limits>>,
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
        let Reached { main, is_pooled, direct, direct_is_pooled } = reach(main, options).await?;
        if direct_is_pooled {
            tracing::warn!(
                "a pooler shares sessions between transactions, so there are no hints from other processes: \
                 workers look once a second; set PGFLOW_LISTEN_URL to a direct connection for speed"
            );
        }
        let bell = Arc::new(Bell::new());
        let stop = CancellationToken::new();
        let hints = HintListener {
            bell: Arc::clone(&bell),
            options: direct.clone(),
            is_pooled: direct_is_pooled,
            check_every: options.check_listener_every,
        };
        hints.spawn(stop.clone());
        let max = options.engine_connections as usize;
        Ok(Self {
            engine: Arc::new(Engine::new(&main, max, is_pooled, options.answer_within)),
            owns_steps: steps.is_none(),
            steps: steps.unwrap_or_else(|| steps_pool(options.tx_connections, main)),
            direct,
            direct_is_pooled,
            bell,
            flows_of_runs: FlowsOfRuns::default(),
            workers: Workers::default(),
            starts: Starts::default(),
            cursors: Cursors::default(),
            job_limits: Mutex::default(),
            stop: stop.clone(),
            _side: stop.drop_guard(),
        })
    }
}

fn steps_pool(max: u32, options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new().max_connections(max.max(1)).connect_lazy_with(options)
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres")
            .field("at", &ShownAddress::of(&self.direct))
            .finish_non_exhaustive()
    }
}
