//! Numbers and times, as one says them.

use std::time::Duration;

use pgflow_machine::Timestamp;

/// How sentences say moments: as a distance from now, which is how a moment turns into this, or as they are.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// use pgflow::client::Moments;
///
/// let run = db.start(count::Flow, &7).await?;
/// run.cancel(None).await?;
/// let why = db.why(run.id()).await?;
/// assert!(why.text(why.now).starts_with("the run was cancelled 0 s ago"));
/// assert!(why.text(Moments::exact()).starts_with("the run was cancelled at 2"));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    now: Option<Timestamp>,
}

impl From<Timestamp> for Moments {
    fn from(now: Timestamp) -> Self {
        Self { now: Some(now) }
    }
}

impl Moments {
    /// As they are, in UTC.
    pub fn exact() -> Self {
        Self { now: None }
    }

    fn said(self, at: Timestamp, exactly: &str, distance: impl Fn(Timestamp) -> String) -> String {
        self.now.map_or_else(|| format!("{exactly} {at}"), distance)
    }

    /// `3 min ago`, or `at …`.
    pub(in crate::client) fn ago(self, at: Timestamp) -> String {
        self.said(at, "at", |now| format!("{} ago", spoken(at.saturating_until(now))))
    }

    /// `for 3 min`, or `since …`.
    pub(in crate::client) fn lasting(self, since: Timestamp) -> String {
        self.said(since, "since", |now| format!("for {}", spoken(since.saturating_until(now))))
    }

    /// `in 20 s`, or `at …`.
    pub(in crate::client) fn later(self, at: Timestamp) -> String {
        self.said(at, "at", |now| format!("in {}", spoken(now.saturating_until(at))))
    }

    /// `for 20 s more`, or `until …`.
    pub(in crate::client) fn more(self, until: Timestamp) -> String {
        self.said(until, "until", |now| format!("for {} more", spoken(now.saturating_until(until))))
    }
}

/// Said where workers may not be looked at.
pub(in crate::client) const HIDDEN: &str =
    "whether a worker serves it is unknown, because this login may not see workers";

/// `1 task`, `2 tasks`.
pub(in crate::client) fn many(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `once`, `2 times`.
pub(in crate::client) fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

/// Workers that are there, but serve something else.
pub(in crate::client) fn alive(workers: usize) -> String {
    let are = if workers == 1 { "is" } else { "are" };
    format!("{} {are} alive", many(workers, "worker"))
}

/// Who will take something.
pub(in crate::client) fn one_of(workers: usize) -> String {
    if workers == 1 { "its worker".to_owned() } else { format!("one of {workers} workers") }
}

/// All slots of those who could take something are taken.
pub(in crate::client) fn taken(workers: usize, slots: u32) -> String {
    format!("all slots of {} are taken ({slots} at once)", many(workers, "worker"))
}

/// A time as one says it: the largest unit that fits.
fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        assert_eq!((many(1, "task"), many(2, "task")), ("1 task".into(), "2 tasks".into()));
        assert_eq!((times(1), times(3)), ("once".into(), "3 times".into()));
        assert_eq!(alive(0), "0 workers are alive");
        assert_eq!(alive(1), "1 worker is alive");
        assert_eq!((one_of(1), one_of(2)), ("its worker".into(), "one of 2 workers".into()));
    }

    #[test]
    fn times_have_the_largest_unit_that_fits() {
        let spoken = |seconds| spoken(Duration::from_secs(seconds));
        assert_eq!(
            [spoken(119), spoken(120), spoken(7_200), spoken(172_800)],
            ["119 s", "2 min", "2 h", "2 days"]
        );
    }
}
