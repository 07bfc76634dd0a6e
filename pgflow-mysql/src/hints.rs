//! Hints: within the process at once; between processes by a row that counts up, which everybody looks at.

mod pace;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgflow_backend::backend::{Wake, Wakes};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::MySqlOptions;
use watch::Watch;

/// Hints that a slow listener may be behind before it gets a gap instead.
const CAPACITY: usize = 256;

/// Tells this process at once and others soon. Whatever fails here costs latency and nothing else.
#[derive(Debug)]
pub(crate) struct Hints {
    bell: Arc<Bell>,
    stop: CancellationToken,
    /// Ends the task that looks and rings.
    _stop: DropGuard,
}

/// What the task shares with those who ring.
#[derive(Debug)]
struct Bell {
    here: broadcast::Sender<Wake>,
    /// Others have not been told yet.
    has_news: AtomicBool,
    /// There is news, or somebody came to listen.
    stirred: Notify,
}

impl Hints {
    pub(crate) fn new(options: &MySqlOptions) -> Self {
        let (here, has_news) = (broadcast::Sender::new(CAPACITY), AtomicBool::new(false));
        let bell = Arc::new(Bell { here, has_news, stirred: Notify::new() });
        let stop = CancellationToken::new();
        let watch = Watch::new(Arc::clone(&bell), options);
        let stopped = stop.clone();
        tokio::spawn(async move { stopped.run_until_cancelled(Box::pin(watch.run())).await });
        Self { bell, stop: stop.clone(), _stop: stop.drop_guard() }
    }

    /// Tells those who listen. Call it after the commit.
    pub(crate) fn ring(&self, wake: Wake) {
        self.bell.ring(wake);
    }

    pub(crate) fn listen(&self) -> Wakes {
        let wakes = Wakes::new(self.bell.here.subscribe());
        self.bell.stirred.notify_one();
        wakes
    }

    pub(crate) fn close(&self) {
        self.stop.cancel();
    }
}

impl Bell {
    fn ring(&self, wake: Wake) {
        self.tell_here(wake);
        self.has_news.store(true, Ordering::Release);
        self.stirred.notify_one();
    }

    fn tell_here(&self, wake: Wake) {
        // An error says that nobody listens.
        let _ = self.here.send(wake);
    }

    fn is_heard(&self) -> bool {
        self.here.receiver_count() > 0
    }
}
