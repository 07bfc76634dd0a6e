//! Steps that cannot go on because the database is in trouble.

use std::time::Duration;

use pgflow_machine::{Until, Verdict};

use super::attempt::Attempt;
use super::shared::Shared;
use crate::worker::excuses::{Excuse, MOST, Sight};
use crate::worker::{Ended, tidy};

/// How long a task waits that may have been unlucky, at first and at most. It doubles in between.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));

/// The database is in trouble, and the step has no part in it: it runs again after a while, and no attempt is used up. Until then its
/// run says what it waits for.
pub(super) fn held_up(shared: &Shared, doing: &'static str, error: &str) -> Ended {
    wait(shared.excuses.delay(doing, error), doing, error)
}

/// The same for something that the step met, if a second look finds the database in trouble as well, or that cannot be found out and
/// the task has not been begun too often. That is the number of the attempt: the database counts, for all workers together.
pub(super) async fn excused(attempt: &Attempt, shared: &Shared, excuse: &Excuse) -> Option<Ended> {
    let (lease, doing, error) = (&attempt.task.lease, excuse.doing, &excuse.error);
    match excuse.look(&shared.backend, lease.clone().into()).await {
        Sight::Trouble => Some(held_up(shared, doing, error)),
        Sight::Gone => Some(Ended::Verdict(Verdict::Released)),
        Sight::Unclear if lease.attempt < MOST => {
            shared.excuses.delay(doing, error);
            Some(wait(patience(lease.attempt), doing, error))
        }
        Sight::Unclear | Sight::Well => None,
    }
}

fn wait(after: Duration, doing: &'static str, error: &str) -> Ended {
    let until = Until::After(after);
    Ended::Verdict(Verdict::Yielded { until, reason: tidy(&format!("{doing}: {error}")) })
}

fn patience(attempt: u32) -> Duration {
    WAIT.1.min(WAIT.0 * 2_u32.pow(attempt.saturating_sub(1).min(10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_waits_longer_each_time_and_not_for_ever() {
        assert_eq!(patience(1), WAIT.0);
        assert!((1..u32::from(u8::MAX)).all(|nth| patience(nth) <= patience(nth + 1)));
        assert_eq!(patience(u32::MAX), WAIT.1);
        let all: Duration = (1..MOST).map(patience).sum();
        assert!(all > Duration::from_mins(30) && all < Duration::from_hours(2), "{all:?}");
    }
}
