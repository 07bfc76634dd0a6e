//! A proxy that cuts a connection at a command that was counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// Where to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server does not get the command.
    Before(u32),
    /// The server gets it, and the client no answer.
    After(u32),
    /// The server gets no command any more from the first commit on, and the connection stays: as of a process that is frozen.
    FreezeAtCommit,
    /// Nowhere, but the server gets another text, of the same length: as from a proxy that knows better.
    Reword(&'static str, &'static str),
    /// Nowhere.
    Never,
}

/// A way to a server that ends at some command, counted over all connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    commands: Arc<AtomicU32>,
}

impl Proxy {
    /// To a server on this port of this machine.
    ///
    /// # Panics
    /// When there is no free port.
    pub async fn start(server: u16, cut: Cut) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let commands = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&commands);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, server, cut, Arc::clone(&counted)));
            }
        });
        Self { port, commands }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Commands so far.
    pub fn commands(&self) -> u32 {
        self.commands.load(Ordering::SeqCst)
    }
}

async fn serve(
    client: TcpStream,
    server: u16,
    cut: Cut,
    commands: Arc<AtomicU32>,
) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server)).await?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let back = tokio::spawn(pass_on(from_server, to_client));
    let ended = forward(from_client, to_server, cut, &commands).await;
    back.abort();
    ended
}

async fn pass_on(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> io::Result<()> {
    tokio::io::copy(&mut from, &mut to).await.map(drop)
}

/// Packets have three bytes of length and a number; a command's number is 0.
async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    cut: Cut,
    commands: &AtomicU32,
) -> io::Result<()> {
    loop {
        let mut head = [0; 4];
        from.read_exact(&mut head).await?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
        let mut body = vec![0; length as usize];
        from.read_exact(&mut body).await?;
        if let Cut::Reword(text, other) = cut {
            reword(&mut body, text.as_bytes(), other.as_bytes());
        }
        let is_command = head[3] == 0;
        let number = if is_command { commands.fetch_add(1, Ordering::SeqCst) + 1 } else { 0 };
        if is_command && cut == Cut::Before(number) {
            return Ok(());
        }
        if is_command && cut == Cut::FreezeAtCommit && is_commit(&body) {
            std::future::pending::<()>().await;
        }
        to.write_all(&head).await?;
        to.write_all(&body).await?;
        if is_command && cut == Cut::After(number) {
            // Long enough for the server to do it.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            return Ok(());
        }
    }
}

/// A query is a byte 3 and its text.
fn is_commit(body: &[u8]) -> bool {
    body.strip_prefix(&[3]).is_some_and(|text| text.eq_ignore_ascii_case(b"commit"))
}

fn reword(body: &mut [u8], text: &[u8], other: &[u8]) {
    assert_eq!(text.len(), other.len(), "the packet keeps its length");
    if let Some(at) = body.windows(text.len()).position(|part| part == text) {
        body[at..at + text.len()].copy_from_slice(other);
    }
}
