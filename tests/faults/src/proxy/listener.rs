//! Takes connections, and leads them to the server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::server::Server;
use super::{Cut, faults::Faults};
use crate::harness::Outcome;

/// A way to the server that can be cut. Ends when dropped.
pub(crate) struct Proxy {
    url: String,
    faults: Arc<Faults>,
    task: AbortHandle,
}

impl Proxy {
    /// To the database that this URL leads to.
    pub(crate) async fn start(url: &str) -> Outcome<Self> {
        let server = Server::of_url(url)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = server.url(listener.local_addr()?.port());
        let faults = Arc::new(Faults::default());
        let task = tokio::spawn(accept(listener, server, faults.clone())).abort_handle();
        Ok(Self { url, faults, task })
    }

    /// How to connect through it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// From now on, cuts these answers; none, if nothing is said.
    pub(crate) fn cut(&self, cut: Option<Cut>) {
        self.faults.set(cut);
    }

    /// How many answers were cut.
    pub(crate) fn cuts(&self) -> u32 {
        self.faults.cuts.load(Ordering::Relaxed)
    }

    /// Bytes of the largest message that a client sent.
    pub(crate) fn largest(&self) -> usize {
        self.faults.largest.load(Ordering::Relaxed)
    }

    /// Bytes that servers have answered.
    pub(crate) fn answered(&self) -> usize {
        self.faults.answered.load(Ordering::Relaxed)
    }

    /// Resets all connections.
    pub(crate) fn reset(&self) {
        self.faults.resets.send_modify(|resets| *resets += 1);
    }

    /// Resets all connections, and lets nobody through any more.
    pub(crate) fn shut(&self) {
        self.faults.is_shut.store(true, Ordering::SeqCst);
        self.reset();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shut();
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: Server, faults: Arc<Faults>) {
    while let Ok((client, _)) = listener.accept().await {
        if !faults.is_shut.load(Ordering::SeqCst) {
            tokio::spawn(server.clone().lead(client, faults.clone()));
        }
    }
}
