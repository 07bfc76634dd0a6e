//! The task that looks for news of other processes, and tells them ours.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pgflow_backend::backend::{BackendError, Wake};
use sqlx::MySqlConnection;
use tokio::time::{Instant, sleep, sleep_until};

use super::Bell;
use super::pace::Pace;
use crate::MySqlOptions;
use crate::connections::{connect, in_time};
use crate::error::Result;

const LOOK: &str = "select rings from pgflow_news where id = 1";
const RING: &str = "update pgflow_news set rings = last_insert_id(rings + 1) where id = 1";

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Between two warnings.
const QUIET: Duration = Duration::from_mins(1);

pub(super) struct Watch {
    bell: Arc<Bell>,
    options: MySqlOptions,
}

impl Watch {
    pub(super) fn new(bell: Arc<Bell>, options: &MySqlOptions) -> Self {
        Self { bell, options: options.clone() }
    }

    /// Runs until it is dropped.
    pub(super) async fn run(self) {
        let (mut pause, mut warned) = (FIRST_PAUSE, None::<Instant>);
        loop {
            self.is_needed().await;
            let began = Instant::now();
            let Err(error) = self.serve().await else { continue };
            if began.elapsed() > pause * 4 {
                pause = FIRST_PAUSE;
            }
            if warned.is_none_or(|warned| warned.elapsed() > QUIET) {
                let error = BackendError::from(error);
                tracing::warn!(%error, "the connection for hints broke; connecting again");
                warned = Some(Instant::now());
            }
            // What came meanwhile is lost: everybody who waits for a hint looks for himself.
            self.bell.tell_here(Wake::Gap);
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn has_news(&self) -> bool {
        self.bell.has_news.load(Ordering::Acquire)
    }

    async fn is_needed(&self) {
        while !self.has_news() && !self.bell.is_heard() {
            self.bell.stirred.notified().await;
        }
    }

    /// Until it fails, or nobody listens any more.
    async fn serve(&self) -> Result<()> {
        let mut connection = connect(&self.options).await?;
        let mut known = None;
        let mut pace = Pace::new(Instant::now());
        loop {
            if self.has_news() && pace.ring() <= Instant::now() {
                self.ring(&mut connection, &mut known).await?;
                pace.rang(Instant::now());
            }
            let is_heard = self.bell.is_heard();
            if !is_heard && !self.has_news() && pace.look() <= Instant::now() {
                return Ok(());
            }
            tokio::select! {
                () = self.bell.stirred.notified() => pace.stir(Instant::now()),
                () = sleep_until(pace.ring()), if self.has_news() => {}
                () = sleep_until(pace.look()) => if is_heard {
                    if self.look(&mut connection, &mut known).await? {
                        pace.stir(Instant::now());
                    }
                    pace.looked(Instant::now());
                }
            }
        }
    }

    /// Tells others. What they rang meanwhile is heard too.
    async fn ring(&self, connection: &mut MySqlConnection, known: &mut Option<u64>) -> Result<()> {
        self.bell.has_news.store(false, Ordering::Release);
        let ring = sqlx::query(RING).execute(connection);
        let rings = match in_time("a hint", self.options.answer_within, ring).await {
            Ok(done) => done.last_insert_id(),
            Err(error) => {
                self.bell.has_news.store(true, Ordering::Release);
                return Err(error);
            }
        };
        // Without the others it would be one more than it was.
        self.hear(known.map(|known| known + 1), rings, known);
        Ok(())
    }

    /// Looks whether others rang.
    async fn look(
        &self,
        connection: &mut MySqlConnection,
        known: &mut Option<u64>,
    ) -> Result<bool> {
        let look = sqlx::query_scalar(LOOK).fetch_one(connection);
        let rings: i64 = in_time("a look for hints", self.options.answer_within, look).await?;
        Ok(self.hear(*known, rings.unsigned_abs(), known))
    }

    /// Whether there was something that we did not know of. The first time nobody knows what was missed.
    fn hear(&self, expected: Option<u64>, rings: u64, known: &mut Option<u64>) -> bool {
        *known = Some(rings);
        let is_new = expected != Some(rings);
        if is_new {
            self.bell.tell_here(Wake::Gap);
        }
        is_new
    }
}
