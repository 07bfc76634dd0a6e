//! A wire to the server that can be cut off silently.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

use pgflow_test_support::TestDb;

/// Passes bytes on, or holds them back without a word: connections look alive and are dead.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    flows: watch::Sender<bool>,
    database: String,
}

impl Wire {
    /// To the server of this database.
    ///
    /// # Panics
    /// When no port can be had.
    pub async fn to(db: &TestDb) -> Self {
        let door = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = door.local_addr().expect("an address").port();
        let (flows, watching) = watch::channel(true);
        let socket = Arc::new(socket(db));
        tokio::spawn(async move {
            while let Ok((client, _)) = door.accept().await {
                let server = UnixStream::connect(&*socket).await.expect("the server is there");
                tokio::spawn(pass(client, server, watching.clone()));
            }
        });
        Self { port, flows, database: db.name().to_owned() }
    }

    /// The database at its other end.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{}", self.port, self.database)
    }

    /// From now on nothing comes through, on old and new connections.
    pub fn fall_silent(&self) {
        self.flows.send_replace(false);
    }

    /// New connections work again; what was held back on old ones is lost.
    pub fn heal(&self) {
        self.flows.send_replace(true);
    }
}

async fn pass(mut client: TcpStream, mut server: UnixStream, flows: watch::Receiver<bool>) {
    let (mut from_client, mut from_server) = ([0; 8192], [0; 8192]);
    loop {
        let is_over = tokio::select! {
            read = client.read(&mut from_client) => match read {
                Ok(n) if n > 0 => !*flows.borrow() || server.write_all(&from_client[..n]).await.is_err(),
                _ => return,
            },
            read = server.read(&mut from_server) => match read {
                Ok(n) if n > 0 => !*flows.borrow() || client.write_all(&from_server[..n]).await.is_err(),
                _ => return,
            },
        };
        if is_over {
            // Half open for ever: both ends keep a connection on which nothing happens.
            return std::future::pending().await;
        }
    }
}

/// Where the test's server listens.
pub(crate) fn socket(db: &TestDb) -> PathBuf {
    let url = db.url();
    let host = url.split_once("host=").and_then(|(_, rest)| rest.split('&').next());
    PathBuf::from(host.expect("the server has a socket")).join(".s.PGSQL.5432")
}
