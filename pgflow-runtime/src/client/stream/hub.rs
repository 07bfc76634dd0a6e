//! Feeds that somebody reads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pgflow_machine::log::StreamKey;

use super::feed::Feed;
use crate::backend::Backend;

/// One feed per stream, for all who read it through one [`Db`](crate::Db) and its clones.
#[derive(Debug, Default)]
pub(crate) struct Hub(Mutex<HashMap<StreamKey, Weak<Feed>>>);

impl Hub {
    /// The feed of a stream.
    pub(super) fn feed(&self, backend: &Arc<dyn Backend>, stream: &StreamKey) -> Arc<Feed> {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = feeds.get(stream).and_then(Weak::upgrade).filter(|feed| feed.is_live());
        known.unwrap_or_else(|| {
            feeds.retain(|_, feed| feed.strong_count() > 0);
            let feed = Feed::start(backend, stream);
            feeds.insert(stream.clone(), Arc::downgrade(&feed));
            feed
        })
    }
}
