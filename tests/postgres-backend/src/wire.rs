//! A wire to the server that can be cut, silently or not.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

use pgflow_test_support::TestDb;

/// Passes bytes on until told otherwise.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    state: watch::Sender<State>,
    database: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Whole,
    Silent,
    AnswersLost,
}

impl Wire {
    /// To the server of this database.
    ///
    /// # Panics
    /// When no port can be had.
    pub async fn to(db: &TestDb) -> Self {
        let door = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = door.local_addr().expect("an address").port();
        let (state, watching) = watch::channel(State::Whole);
        let socket = Arc::new(db.socket_dir().join(".s.PGSQL.5432"));
        tokio::spawn(async move {
            while let Ok((client, _)) = door.accept().await {
                let server = UnixStream::connect(&*socket).await.expect("the server is there");
                tokio::spawn(pass(client, server, watching.clone()));
            }
        });
        Self { port, state, database: db.name().to_owned() }
    }

    /// The database at its other end.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{}", self.port, self.database)
    }

    /// From now on nothing comes through, on old and new connections, and nobody is told: they look alive
    /// and are dead.
    pub fn fall_silent(&self) {
        self.state.send_replace(State::Silent);
    }

    /// From now on the server gets what it is sent, and a connection breaks as soon as it answers.
    pub fn lose_answers(&self) {
        self.state.send_replace(State::AnswersLost);
    }

    /// New connections work again; what was held back on old ones is lost.
    pub fn heal(&self) {
        self.state.send_replace(State::Whole);
    }
}

async fn pass(mut client: TcpStream, mut server: UnixStream, state: watch::Receiver<State>) {
    let (mut from_client, mut from_server) = ([0; 8192], [0; 8192]);
    let now = || *state.borrow();
    loop {
        let passed = tokio::select! {
            read = client.read(&mut from_client) => match (read, now()) {
                (Ok(0) | Err(_), _) => return,
                // Half open for ever: both ends keep a connection on which nothing happens.
                (_, State::Silent) => return std::future::pending().await,
                (Ok(n), _) => server.write_all(&from_client[..n]).await,
            },
            read = server.read(&mut from_server) => match (read, now()) {
                (Ok(0) | Err(_), _) | (_, State::AnswersLost) => return,
                (_, State::Silent) => return std::future::pending().await,
                (Ok(n), _) => client.write_all(&from_server[..n]).await,
            },
        };
        if passed.is_err() {
            return;
        }
    }
}
