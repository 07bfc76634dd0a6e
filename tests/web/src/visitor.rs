//! A program that visits an application over a real connection.

use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::{Listening, Outcome};

/// More than any answer has.
const LARGEST: usize = 1 << 20;

/// An application that listens, and a client of it. It ends with the test.
#[derive(Debug)]
pub struct Visitor {
    address: SocketAddr,
    client: Client<HttpConnector, Body>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Visitor {
    /// Of this application.
    pub async fn of(app: Router) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(axum::serve(listener, app).into_future());
        let client = Client::builder(TokioExecutor::new()).build_http();
        Ok(Self { address, client, server })
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Outcome<Response<Body>> {
        let uri = format!("http://{}{path}", self.address);
        let request = Request::builder().method(method).uri(uri);
        let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value));
        Ok(self.client.request(request.body(body.into())?).await?.map(Body::new))
    }

    /// The answer to a body, in JSON, and its status.
    pub async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Outcome<(u16, Value)> {
        let answer = self.ask("POST", path, headers, body).await?;
        let status = answer.status().as_u16();
        Ok((status, serde_json::from_slice(&to_bytes(answer.into_body(), LARGEST).await?)?))
    }

    /// A page.
    pub async fn get(&self, path: &str) -> Outcome<String> {
        let answer = found(self.ask("GET", path, &[], Body::empty()).await?)?;
        Ok(String::from_utf8(to_bytes(answer.into_body(), LARGEST).await?.to_vec())?)
    }

    /// Listens to events; `last` is the id of the one that was read last.
    pub async fn listen(&self, path: &str, last: Option<&str>) -> Outcome<Listening> {
        let headers: Vec<_> = last.into_iter().map(|id| ("last-event-id", id)).collect();
        let answer = found(self.ask("GET", path, &headers, Body::empty()).await?)?;
        Ok(Listening::new(answer.into_body()))
    }
}

fn found(answer: Response<Body>) -> Outcome<Response<Body>> {
    if answer.status() == 200 { Ok(answer) } else { Err(answer.status().to_string().into()) }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.server.abort();
    }
}
