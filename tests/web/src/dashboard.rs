//! A dashboard that listens, as a browser meets it, and a program that is no browser.

use std::net::SocketAddr;

use pgflow::Db;
use pgflow_web::{Options, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::Outcome;

/// A dashboard on loopback. It stops when dropped.
#[derive(Debug)]
pub struct Dashboard {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), pgflow_web::ServeError>>,
}

impl Dashboard {
    /// Of this database.
    pub async fn start(db: &Db, options: Options) -> Outcome<Self> {
        Self::start_at("127.0.0.1:0".parse()?, db, options).await
    }

    /// The same, where another one was.
    pub async fn start_at(address: SocketAddr, db: &Db, options: Options) -> Outcome<Self> {
        let server = Server::bind(db, address, options).await?;
        let (stop, stopped) = oneshot::channel::<()>();
        let address = server.address();
        let ended = tokio::spawn(server.run(async {
            _ = stopped.await;
        }));
        Ok(Self { address, stop, ended })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a page is.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Tells it to stop, and waits until it has.
    pub async fn stop(self) -> Outcome {
        drop(self.stop);
        Ok(self.ended.await??)
    }

    /// Opens a connection and sends a request: a line such as `GET /runs`, and headers.
    pub async fn send(
        &self,
        request: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Outcome<TcpStream> {
        let mut stream = TcpStream::connect(self.address).await?;
        let host = self.address.to_string();
        let has_host = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
        let mut text = format!("{request} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in
            headers.iter().copied().chain((!has_host).then_some(("host", host.as_str())))
        {
            text.push_str(&[name, ": ", value, "\r\n"].concat());
        }
        let length = body.len();
        let text = format!("{text}content-length: {length}\r\n\r\n{body}");
        stream.write_all(text.as_bytes()).await?;
        Ok(stream)
    }

    /// The answer to a request without a body.
    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Outcome<Answer> {
        self.ask(&format!("GET {path}"), headers, "").await
    }

    /// The answer to a form.
    pub async fn post(&self, path: &str, headers: &[(&str, &str)], form: &str) -> Outcome<Answer> {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let headers: Vec<_> = headers.iter().copied().chain([kind]).collect();
        self.ask(&format!("POST {path}"), &headers, form).await
    }

    async fn ask(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Outcome<Answer> {
        let mut stream = self.send(request, headers, body).await?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await?;
        Answer::of(&String::from_utf8(bytes)?)
    }
}

/// What a server says.
#[derive(Debug)]
pub struct Answer {
    /// The number.
    pub status: u16,
    head: String,
    /// What follows the headers.
    pub body: String,
}

impl Answer {
    fn of(text: &str) -> Outcome<Self> {
        let (head, body) = text.split_once("\r\n\r\n").ok_or("no answer")?;
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        Ok(Self { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// A header, if it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}
