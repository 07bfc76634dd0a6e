//! A pooler that gives every transaction to another session, as PgBouncer does in its mode `transaction`.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pgflow_test_support::TestDb;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::wire::socket;

/// Sessions that wait for a transaction; the one that waits longest is next.
type Sessions = Arc<Mutex<VecDeque<UnixStream>>>;

/// A pooler in front of a server.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    database: String,
}

impl Pooler {
    /// To the server of this database.
    ///
    /// # Panics
    /// When no port can be had.
    pub async fn to(db: &TestDb) -> Self {
        let door = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = door.local_addr().expect("an address").port();
        let sessions = Sessions::default();
        let socket = socket(db);
        tokio::spawn(async move {
            while let Ok((client, _)) = door.accept().await {
                tokio::spawn(serve(client, socket.clone(), Arc::clone(&sessions)));
            }
        });
        Self { port, database: db.name().to_owned() }
    }

    /// The database behind it.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{}", self.port, self.database)
    }
}

async fn serve(mut client: TcpStream, socket: PathBuf, sessions: Sessions) -> io::Result<()> {
    let mut session = UnixStream::connect(socket).await?;
    let length = client.read_u32().await?;
    let mut greeting = vec![0; length as usize - 4];
    client.read_exact(&mut greeting).await?;
    session.write_u32(length).await?;
    session.write_all(&greeting).await?;
    answer(&mut session, &mut client).await?;
    give_back(&sessions, session);
    loop {
        let mut request = request(&mut client).await?;
        let taken = sessions.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut session = taken.ok_or(io::ErrorKind::NotFound)?;
        session.write_all(&request).await?;
        while answer(&mut session, &mut client).await? != b'I' {
            request = self::request(&mut client).await?;
            session.write_all(&request).await?;
        }
        give_back(&sessions, session);
    }
}

fn give_back(sessions: &Sessions, session: UnixStream) {
    sessions.lock().unwrap_or_else(PoisonError::into_inner).push_back(session);
}

/// Messages up to one that asks for an answer.
async fn request(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    loop {
        match message(client, &mut request).await? {
            b'Q' | b'S' => return Ok(request),
            b'X' => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => {}
        }
    }
}

/// Passes an answer on and tells whether a transaction is open after it.
async fn answer(session: &mut UnixStream, client: &mut TcpStream) -> io::Result<u8> {
    let mut answer = Vec::new();
    while message(session, &mut answer).await? != b'Z' {}
    client.write_all(&answer).await?;
    Ok(answer.last().copied().unwrap_or_default())
}

/// Appends a message and returns its kind.
async fn message(from: &mut (impl AsyncReadExt + Unpin), to: &mut Vec<u8>) -> io::Result<u8> {
    let kind = from.read_u8().await?;
    let length = from.read_u32().await?;
    to.push(kind);
    to.extend(length.to_be_bytes());
    let start = to.len();
    to.resize(start + length as usize - 4, 0);
    from.read_exact(&mut to[start..]).await?;
    Ok(kind)
}
