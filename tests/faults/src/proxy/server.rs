//! Where connections lead.

use std::path::PathBuf;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use tokio::net::{TcpStream, UnixStream};

use super::connection::pass;
use super::faults::Faults;
use super::frames::Protocol;
use crate::harness::Outcome;

/// A server.
#[derive(Clone, Debug)]
pub(super) enum Server {
    /// Postgres, at a socket of Unix.
    Postgres { socket: PathBuf, user: String, database: String },
    /// MariaDB, at `host:port`.
    MySql { address: String, user: String, database: String },
}

impl Server {
    pub(super) fn of_url(url: &str) -> Outcome<Self> {
        match url.strip_prefix("mysql://") {
            Some(rest) => {
                Self::mysql(rest).ok_or_else(|| format!("{url} has not all parts").into())
            }
            None => Self::postgres(url),
        }
    }

    fn postgres(url: &str) -> Outcome<Self> {
        let options: PgConnectOptions = url.parse()?;
        let database = options.get_database().ok_or("no database is named")?.to_owned();
        let dir =
            options.get_socket().cloned().unwrap_or_else(|| PathBuf::from(options.get_host()));
        let socket = dir.join(format!(".s.PGSQL.{}", options.get_port()));
        Ok(Self::Postgres { socket, user: options.get_username().to_owned(), database })
    }

    /// From `user@host:port/database`.
    fn mysql(rest: &str) -> Option<Self> {
        let (user, rest) = rest.split_once('@')?;
        let (address, database) = rest.split_once('/')?;
        let [address, user, database] = [address, user, database].map(str::to_owned);
        Some(Self::MySql { address, user, database })
    }

    /// How to reach it through this port.
    pub(super) fn url(&self, port: u16) -> String {
        match self {
            Self::Postgres { user, database, .. } => {
                format!("postgres://{user}@127.0.0.1:{port}/{database}?sslmode=disable")
            }
            Self::MySql { user, database, .. } => {
                format!("mysql://{user}@127.0.0.1:{port}/{database}?ssl-mode=DISABLED")
            }
        }
    }

    /// An error here is one of the connection, and that is what the client sees.
    pub(super) async fn lead(self, client: TcpStream, faults: Arc<Faults>) {
        _ = client.set_nodelay(true);
        match self {
            Self::Postgres { socket, .. } => {
                if let Ok(server) = UnixStream::connect(socket).await {
                    _ = pass(client, server, Protocol::Postgres, &faults).await;
                }
            }
            Self::MySql { address, .. } => {
                if let Ok(server) = TcpStream::connect(address).await {
                    _ = server.set_nodelay(true);
                    _ = pass(client, server, Protocol::MySql, &faults).await;
                }
            }
        }
    }
}
