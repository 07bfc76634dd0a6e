//! Hints: of this process at once, of others as soon as SQLite shows that they wrote.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use sqlx::sqlite::SqlitePool;
use tokio::runtime;
use tokio::sync::broadcast;

use super::open::Connections;
use pgflow_backend::backend::{Wake, Wakes};

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
    On,
    Closed,
}

impl Hints {
    pub(super) fn new() -> Arc<Self> {
        let watch = Mutex::new(Watch::Off);
        Arc::new(Self { sender: broadcast::Sender::new(CAPACITY), watch })
    }

    /// Tells those who listen. Call it after the commit.
    pub(super) fn send(&self, wake: Wake) {
        // Nobody may be listening, which is fine.
        let _ = self.sender.send(wake);
    }

    /// Starts to listen, and to look if nobody did.
    pub(super) fn listen(self: &Arc<Self>, connections: &Connections) -> Wakes {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let wakes = Wakes::new(self.sender.subscribe());
        if matches!(*watch, Watch::Off) && !connections.is_memory {
            match spawn(look(Arc::downgrade(self), connections.writer.clone())) {
                Ok(()) => *watch = Watch::On,
                Err(error) => tracing::warn!(%error, "no hints of other processes"),
            }
        }
        wakes
    }

    /// Whether anybody listens; if not, the one who asks has to stop.
    fn is_heard(&self) -> bool {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if self.sender.receiver_count() > 0 {
            return matches!(*watch, Watch::On);
        }
        if matches!(*watch, Watch::On) {
            *watch = Watch::Off;
        }
        false
    }

    pub(super) fn close(&self) {
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Watch::Closed;
    }
}

/// On a thread of its own: on the application's, which handlers may block, it would keep the connection that writes from everybody.
fn spawn(look: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_time().build()?;
    let thread = thread::Builder::new().name("pgflow-hints".to_owned());
    thread.spawn(move || runtime.block_on(look)).map(drop)
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
