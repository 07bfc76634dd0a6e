//! One reader for each topic, as long as somebody listens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch::{self, Receiver, Sender};
use tokio::time::Instant;

use super::Frame;
use super::topic::Topic;
use crate::app::App;

/// What listeners of a topic get: nothing before the first look, and only the newest if they are slow.
type Newest = Option<Arc<Frame>>;

/// Topics that somebody listens to.
#[derive(Default)]
pub(crate) struct Hub(Mutex<HashMap<Topic, Arc<Sender<Newest>>>>);

impl Hub {
    fn topics(&self) -> MutexGuard<'_, HashMap<Topic, Arc<Sender<Newest>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens; the first listener of a topic brings its reader to life.
    pub(super) fn listen(app: &App, topic: Topic) -> Receiver<Newest> {
        let mut topics = app.hub.topics();
        if let Some(sender) = topics.get(&topic) {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(None);
        let sender = Arc::new(sender);
        topics.insert(topic.clone(), sender.clone());
        // A runtime that ends drops the reader at once, which takes the lock.
        drop(topics);
        tokio::spawn(Reader { app: app.clone(), topic, sender }.read());
        receiver
    }

    /// Ends a topic that nobody listens to; whether that was so.
    fn forget(&self, topic: &Topic, sender: &Sender<Newest>) -> bool {
        let mut topics = self.topics();
        let is_idle = sender.receiver_count() == 0;
        if is_idle {
            topics.remove(topic);
        }
        is_idle
    }

    /// Ends a topic whose reader is gone: those who listen begin anew.
    fn end(&self, topic: &Topic, sender: &Arc<Sender<Newest>>) {
        let mut topics = self.topics();
        if topics.get(topic).is_some_and(|other| Arc::ptr_eq(other, sender)) {
            topics.remove(topic);
        }
    }
}

/// Reads a topic for all who listen to it.
struct Reader {
    app: App,
    topic: Topic,
    sender: Arc<Sender<Newest>>,
}

impl Reader {
    /// Looks again and again, until nobody listens or nothing can follow.
    async fn read(self) {
        // Listened to before the first look, so that no hint after it is missed.
        let mut wakes = self.app.db.backend().wakes();
        let mut flow = None;
        loop {
            let looked = Instant::now();
            match self.topic.read(&self.app).await {
                Ok((frame, of)) => {
                    flow = of;
                    publish(&self.sender, frame);
                }
                Err(error) => tracing::debug!(%error, "a live region cannot be read"),
            }
            tokio::select! {
                () = self.topic.changed(&mut wakes, looked, flow.as_deref()) => {}
                () = self.sender.closed() => {}
                () = self.app.options.stop.stopped() => return,
            }
            if self.app.hub.forget(&self.topic, &self.sender) {
                return;
            }
        }
    }
}

/// However a reader ends: what the application redacts with may panic.
impl Drop for Reader {
    fn drop(&mut self) {
        self.app.hub.end(&self.topic, &self.sender);
    }
}

fn publish(sender: &Sender<Newest>, frame: Frame) {
    sender.send_if_modified(|newest| {
        let is_new = newest.as_ref().is_none_or(|newest| newest.id != frame.id);
        if is_new {
            *newest = Some(Arc::new(frame));
        }
        is_new
    });
}
