//! Waiting for something to change.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backend::{Topic, Wake, Wakes};
use crate::db::Db;

/// Looks again after this time without a hint.
const FALLBACK: Duration = Duration::from_secs(1);
/// Never looks more often than this, however many hints there are.
const PAUSE: Duration = Duration::from_millis(10);

/// Hints about the runs of a flow.
#[derive(Debug)]
pub(super) struct Watch {
    wakes: Wakes,
    looked: Instant,
}

impl Watch {
    /// Made before the first look, so that no hint after that look is missed.
    pub(super) fn new(db: &Db) -> Self {
        Self { wakes: db.backend().wakes(), looked: Instant::now() }
    }

    /// Ready when it is worth looking again at a run of the version `flow`, and at the latest when `until` is.
    pub(super) async fn changed(&mut self, flow: Option<&str>, until: Option<Instant>) {
        let latest = self.looked + FALLBACK;
        let latest = until.map_or(latest, |until| latest.min(until));
        let hint = async {
            loop {
                match self.wakes.next().await {
                    Wake::Gap => break,
                    Wake::Topic(Topic::Queue(slug)) if flow.is_none_or(|flow| *flow == *slug) => {
                        break;
                    }
                    Wake::Topic(_) => {}
                }
            }
        };
        if timeout_at(latest, hint).await.is_ok() {
            sleep_until((self.looked + PAUSE).min(latest)).await;
        }
        self.looked = Instant::now();
    }
}
