//! A database that does not answer, or refuses.

use std::time::Duration;

use pgflow_model::with_causes;
use tokio::time::Instant;

use crate::backend::BackendError;
use pgflow_backend::backoff::Backoff;

/// While a database is down, the log says so this often, however often it seems to be back.
const SAY_AGAIN: Duration = Duration::from_secs(10);

/// What a worker asks a database for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// To record results.
    Settle,
    /// For tasks.
    Claim,
    /// To keep leases, to take back those of others, to forget a claim.
    Upkeep,
}

/// Failures in a row: how long to wait, and when to say so.
#[derive(Debug)]
pub(super) struct Trouble {
    backoff: Backoff,
    since: Option<Instant>,
    /// Calls that the database refused. That it answers others proves nothing: a full disk can be read.
    refused: Vec<Call>,
    log: LogLimit,
}

impl Trouble {
    pub(super) fn new() -> Self {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        Self { backoff, since: None, refused: Vec::new(), log: LogLimit::default() }
    }

    /// How long to leave the database alone after this error.
    pub(super) fn failed(
        &mut self,
        call: Call,
        doing: &'static str,
        error: &BackendError,
    ) -> Duration {
        let (now, delay) = (Instant::now(), self.backoff.next());
        self.since.get_or_insert(now);
        if !matches!(error, BackendError::Unreachable(_)) && !self.refused.contains(&call) {
            self.refused.push(call);
        }
        metrics::counter!(super::metrics::DATABASE_ERRORS, "doing" => doing).increment(1);
        if self.log.may_say(now) {
            let failures = self.backoff.failures();
            tracing::warn!(doing, failures, error = %with_causes(error), "the database does not answer");
        }
        delay
    }

    /// Whether the last call failed.
    pub(super) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// The database answered such a call, and did something. Whether the trouble is over with that.
    pub(super) fn answered(&mut self, call: Call) -> bool {
        match call {
            Call::Settle => self.refused.clear(),
            Call::Claim => self.refused.retain(|refused| *refused == Call::Settle),
            Call::Upkeep => self.refused.retain(|refused| *refused != Call::Upkeep),
        }
        if !self.refused.is_empty() {
            return false;
        }
        let Some(since) = self.since.take() else { return false };
        let (failures, seconds) = (self.backoff.failures(), since.elapsed().as_secs_f64());
        if self.log.has_said_since(since) {
            tracing::info!(failures, seconds, "the database answers again");
        }
        self.backoff.reset();
        true
    }
}

/// Lets something be said from time to time.
#[derive(Debug, Default)]
pub(crate) struct LogLimit {
    said: Option<Instant>,
}

impl LogLimit {
    /// Whether it is time to say it; then it counts as said.
    pub(crate) fn may_say(&mut self, now: Instant) -> bool {
        let may = self.said.is_none_or(|said| now >= said + SAY_AGAIN);
        if may {
            self.said = Some(now);
        }
        may
    }

    fn has_said_since(&self, since: Instant) -> bool {
        self.said.is_some_and(|said| said >= since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> BackendError {
        BackendError::Unavailable("the disk is full".into())
    }

    #[test]
    fn what_works_on_a_full_disk_does_not_end_the_trouble() {
        let mut trouble = Trouble::new();
        for _ in 0..10 {
            trouble.failed(Call::Claim, "claim", &full());
            assert!(!trouble.answered(Call::Upkeep) && trouble.is_on());
        }
        assert!(trouble.failed(Call::Settle, "settle", &full()) > Duration::from_secs(3));
        assert!(!trouble.answered(Call::Claim), "results are still refused");
        assert!(trouble.answered(Call::Settle) && !trouble.is_on());
        assert!(trouble.failed(Call::Claim, "claim", &full()) < Duration::from_secs(1));
    }

    #[test]
    fn any_answer_ends_a_silence() {
        let mut trouble = Trouble::new();
        trouble.failed(Call::Settle, "settle", &BackendError::Unreachable("no route".into()));
        assert!(trouble.answered(Call::Upkeep) && !trouble.is_on());
        assert!(!trouble.answered(Call::Upkeep), "that is no news");
    }

    #[test]
    fn the_log_is_not_flooded_by_a_database_that_comes_and_goes() {
        let (mut log, now) = (LogLimit::default(), Instant::now());
        assert!(log.may_say(now));
        assert!(!log.may_say(now + SAY_AGAIN / 2) && log.may_say(now + SAY_AGAIN));
    }
}
