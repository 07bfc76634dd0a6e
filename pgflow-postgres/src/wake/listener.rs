//! The task that keeps a session for hints, while there is use for it.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::bell::Bell;
use super::session::Session;
use pgflow_backend::backend::Wake;
use pgflow_backend::backoff::jittered;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Between two warnings.
const QUIET: Duration = Duration::from_mins(1);

/// What the task needs to know.
pub(crate) struct HintListener {
    pub(crate) bell: Arc<Bell>,
    pub(crate) options: PgConnectOptions,
    /// Whether a pooler gives each transaction to another session, so that no notification arrives.
    pub(crate) is_pooled: bool,
    pub(crate) check_every: Duration,
}

impl HintListener {
    /// Runs until told to stop. Whatever fails here costs latency and nothing else.
    pub(crate) fn spawn(self, stop: CancellationToken) {
        // In a box, since with encryption it is big.
        tokio::spawn(async move { stop.run_until_cancelled(Box::pin(self.run())).await });
    }

    async fn run(self) {
        let mut pause = FIRST_PAUSE;
        let mut warned: Option<Instant> = None;
        loop {
            self.is_needed().await;
            let began = Instant::now();
            let Err(error) = self.serve().await else { continue };
            if began.elapsed() > pause * 4 {
                pause = FIRST_PAUSE;
            }
            if warned.is_none_or(|warned| warned.elapsed() > QUIET) {
                tracing::warn!(%error, "the connection for hints broke; connecting again");
                warned = Some(Instant::now());
            }
            // What came meanwhile is lost: everybody who waits for a hint looks for himself.
            self.bell.tell_here(Wake::Gap);
            sleep(jittered(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn serve(&self) -> Result<(), sqlx::Error> {
        Session::open(self).await?.serve().await
    }

    async fn is_needed(&self) {
        while !(self.bell.has_news() || (!self.is_pooled && self.bell.is_heard())) {
            self.bell.stirred.notified().await;
        }
    }
}
