//! The dashboard on its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use pgflow_runtime::db::Db;
use tokio::net::TcpListener;

use crate::guard::only_known_hosts;
use crate::options::Options;
use crate::router::router;
use crate::stop::Stop;

/// Where the dashboard is unless somebody says otherwise: only this machine can reach it.
///
/// ```
/// assert!(pgflow_web::ADDRESS.ip().is_loopback());
/// ```
pub const ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4680));

/// How long connections have to end.
const GRACE: Duration = Duration::from_secs(5);

/// Why the dashboard is not served.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pgflow_web::{Options, ServeError, Server};
///
/// let db = pgflow::Db::connect("memory:").await?;
/// let refused = Server::bind(&db, "0.0.0.0:0".parse()?, Options::new().actions(true)).await;
/// assert!(matches!(refused, Err(ServeError::ActionsForAnybody { .. })));
/// # Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Others could reach it and cancel runs, or signal.
    #[error(
        "actions and hooks are not served on {address}, where anybody could use them\nhelp: say who may with `Options::auth`, or \
         serve on a loopback address such as {ADDRESS}"
    )]
    ActionsForAnybody {
        /// Where.
        address: SocketAddr,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// It stopped by itself.
    #[error("the server stopped")]
    Stopped(#[source] io::Error),
}

/// Serves the dashboard until the process is told to stop (Ctrl-C, SIGTERM).
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let db = pgflow::Db::connect("sqlite:app.db").await?;
/// pgflow_web::serve(&db, pgflow_web::ADDRESS, pgflow_web::Options::new()).await?;
/// # Ok(())
/// # }
/// ```
pub async fn serve(db: &Db, address: SocketAddr, options: Options) -> Result<(), ServeError> {
    Server::bind(db, address, options).await?.run(signalled()).await
}

/// A dashboard that has its address and does not answer yet.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let db = pgflow::Db::connect("memory:").await?;
/// let server = pgflow_web::Server::bind(&db, "127.0.0.1:0".parse()?, pgflow_web::Options::new()).await?;
/// println!("http://{}", server.address());
/// server.run(async { /* until this is ready */ }).await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    stop: Stop,
}

impl Server {
    /// Takes the address. On one that is not loopback, [actions](Options::actions) and [hooks](Options::hooks) need
    /// [`Options::auth`].
    pub async fn bind(db: &Db, address: SocketAddr, options: Options) -> Result<Self, ServeError> {
        let is_local = address.ip().is_loopback();
        // A named token can be guessed.
        let is_for_anybody = options.auth.is_none() && !is_local;
        if (options.actions || options.hooks) && is_for_anybody {
            return Err(ServeError::ActionsForAnybody { address });
        }
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (stop, names) = (options.stop.clone(), Arc::from(options.hosts.as_slice()));
        let mut router = router(db, options);
        if is_local {
            router = router.layer(from_fn_with_state(names, only_known_hosts));
        }
        Ok(Self { listener, address, router, stop })
    }

    /// Where it is, also if any free port was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown` is ready; what is under way then has five seconds to end.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let Self { listener, router, stop, .. } = self;
        stop.when(shutdown);
        let stopped = stop.clone();
        let server = axum::serve(listener, router)
            .with_graceful_shutdown(async move { stopped.stopped().await });
        tokio::select! {
            ended = server.into_future() => ended.map_err(ServeError::Stopped),
            () = async { stop.stopped().await; tokio::time::sleep(GRACE).await } => Ok(()),
        }
    }
}

/// Ready when the process is told to stop.
async fn signalled() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = tokio::signal::ctrl_c() => return,
            }
        }
    }
    _ = tokio::signal::ctrl_c().await;
}
