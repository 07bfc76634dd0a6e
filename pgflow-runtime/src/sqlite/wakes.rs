//! Hints: of this process at once, of others as soon as SQLite shows that they wrote.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use sqlx::sqlite::SqlitePool;
use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::task::AbortHandle;

use super::open::Connections;
use crate::backend::{Wake, Wakes};

/// Hints that a slow listener may be behind before it gets a gap instead.
const CAPACITY: usize = 256;
/// Between two looks while others write.
const BUSY: Duration = Duration::from_millis(5);
/// Between two looks when they have not for a while.
const IDLE: Duration = Duration::from_millis(20);
/// Looks without news after which it is a while.
const PATIENCE: u32 = 200;

#[derive(Debug)]
pub(super) struct Hints {
    sender: broadcast::Sender<Wake>,
    watch: Mutex<Watch>,
}

/// What looks for writes of others, while somebody listens.
#[derive(Debug)]
enum Watch {
    Off,
    On(AbortHandle),
    Closed,
}

impl Hints {
    pub(super) fn new() -> Arc<Self> {
        let watch = Mutex::new(Watch::Off);
        Arc::new(Self { sender: broadcast::Sender::new(CAPACITY), watch })
    }

    /// A flow has news. Call it after the commit.
    pub(super) fn flow(&self, slug: &Arc<str>) {
        // Nobody may be listening, which is fine.
        let _ = self.sender.send(Wake::Flow(slug.clone()));
    }

    /// As [`flow`](Self::flow), of several.
    pub(super) fn flows(&self, slugs: &[Arc<str>]) {
        for slug in slugs {
            self.flow(slug);
        }
    }

    /// Starts to listen, and to look if nobody did.
    pub(super) fn listen(self: &Arc<Self>, connections: &Connections) -> Wakes {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let wakes = Wakes::new(self.sender.subscribe());
        if let (Watch::Off, false, Ok(runtime)) =
            (&*watch, connections.is_memory, Handle::try_current())
        {
            let look = look(Arc::downgrade(self), connections.writer.clone());
            *watch = Watch::On(runtime.spawn(look).abort_handle());
        }
        wakes
    }

    /// Whether anybody listens; if not, the one who asks has to stop.
    fn is_heard(&self) -> bool {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let is_heard = self.sender.receiver_count() > 0;
        if !is_heard && matches!(*watch, Watch::On(_)) {
            *watch = Watch::Off;
        }
        is_heard
    }

    pub(super) fn close(&self) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Watch::On(task) = std::mem::replace(&mut *watch, Watch::Closed) {
            task.abort();
        }
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        self.close();
    }
}

/// Looks at the connection that writes: its data version changes only by writes of other connections.
async fn look(hints: Weak<Hints>, writer: SqlitePool) {
    let (mut known, mut quiet) = (None, 0);
    loop {
        tokio::time::sleep(if quiet < PATIENCE { BUSY } else { IDLE }).await;
        if !hints.upgrade().is_some_and(|hints| hints.is_heard()) {
            return;
        }
        // A look that fails is no news, and the next one comes soon.
        let Ok(version) = data_version(&writer).await else { continue };
        // The first time nobody knows what was missed.
        let has_news = known.replace(version) != Some(version);
        quiet = if has_news { 0 } else { quiet + 1 };
        if let Some(hints) = hints.upgrade().filter(|_| has_news) {
            let _ = hints.sender.send(Wake::Gap);
        }
    }
}

async fn data_version(writer: &SqlitePool) -> sqlx::Result<i64> {
    sqlx::query_scalar("pragma data_version").fetch_one(writer).await
}
