//! Which moments of a schedule have come, and which one is next.

use pgflow_cron::Timetable;
use pgflow_machine::Timestamp;
use pgflow_machine::schedule::{Fire, Given, LATE, Missed, Next, Schedule, ScheduleSpec};

/// What was found out about a schedule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    due: Vec<Timestamp>,
    next: Next,
}

impl Found {
    /// By the clock of the database.
    pub(crate) fn new(schedule: &Schedule, now: Timestamp) -> Self {
        match Timetable::new(&schedule.spec.cron, &schedule.spec.zone) {
            Ok(timetable) => Self::by(&timetable, schedule, now),
            Err(error) => Self { due: Vec::new(), next: Next::Unknown(error.to_string()) },
        }
    }

    fn by(timetable: &Timetable, schedule: &Schedule, now: Timestamp) -> Self {
        let next_at = schedule.next_at;
        if let Some(next_at) = next_at.filter(|next_at| *next_at > now) {
            return Self { due: Vec::new(), next: Next::At(next_at) };
        }
        // A first moment that somebody chose need not be one of the timetable's.
        let first = next_at.map_or(schedule.after.micros().saturating_add(1), Timestamp::micros);
        let most = most(schedule.spec.missed);
        let mut due = past(timetable, first, now, most);
        if let Some(next_at) = next_at.filter(|it| due.len() < most || is_in_time(*it, now))
            && due.first() != Some(&next_at)
        {
            due.insert(0, next_at);
        }
        let next = timetable.after(now.micros().max(first - 1)).map(Timestamp::from_micros);
        Self { due, next: next.map_or(Next::Never, Next::At) }
    }

    /// The command that says so.
    pub(crate) fn fire<'a>(&'a self, schedule: &'a Schedule, input: Given<'a>) -> Fire<'a> {
        let Self { due, next } = self;
        Fire { name: &schedule.name, revision: schedule.revision, due, next, input }
    }

    /// What has come is somebody else's to start.
    pub(crate) fn left_to_others(self) -> Self {
        match self.due.first() {
            Some(first) => Self { next: Next::At(*first), due: Vec::new() },
            None => self,
        }
    }

    /// Whether a moment has come.
    pub(crate) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// When the schedule is due again.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        match self.next {
            Next::At(moment) => Some(moment),
            Next::Never | Next::Unknown(_) => None,
        }
    }
}

/// A moment that is not missed, so that it starts its run whatever the schedule makes up for.
fn is_in_time(moment: Timestamp, now: Timestamp) -> bool {
    moment + LATE >= now
}

/// How many of its moments a schedule makes up for. One that makes up for none is told of the last, which it leaves out.
fn most(missed: Missed) -> usize {
    match missed {
        Missed::Skip | Missed::Last => 1,
        Missed::All(max) => usize::try_from(max).unwrap_or(usize::MAX),
    }
}

/// The last moments up to now, from the first that counts, the oldest first: at most so many, but all that are in time. Found from
/// the end, because there may be millions.
fn past(timetable: &Timetable, first: i64, now: Timestamp, most: usize) -> Vec<Timestamp> {
    let mut found = Vec::new();
    let mut until = now.micros();
    while let Some(moment) = timetable.until(until).filter(|moment| *moment >= first) {
        let at = Timestamp::from_micros(moment);
        if found.len() >= most && !is_in_time(at, now) {
            break;
        }
        found.push(at);
        until = moment - 1;
    }
    found.reverse();
    found
}

/// The next moments of a schedule.
pub(crate) fn upcoming(
    spec: &ScheduleSpec,
    first: Option<Timestamp>,
    now: Timestamp,
    many: usize,
) -> Result<Vec<Timestamp>, pgflow_cron::InvalidTimetable> {
    let timetable = Timetable::new(&spec.cron, &spec.zone)?;
    let first = first.map(Timestamp::micros).or_else(|| timetable.after(now.micros()));
    let moments = std::iter::successors(first, |moment| timetable.after(*moment));
    Ok(moments.take(many).map(Timestamp::from_micros).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn schedule(missed: Missed, next_at: Option<i64>) -> Schedule {
        let spec = ScheduleSpec { missed, ..ScheduleSpec::new("report", "* * * * *") };
        Schedule { next_at: next_at.map(at), ..Schedule::new("s", spec, at(0)) }
    }

    #[test]
    fn a_new_one_has_no_past() {
        let found = Found::new(&schedule(Missed::All(9), None), at(5));
        assert_eq!(found, Found { due: vec![], next: Next::At(at(60)) });
    }

    #[test]
    fn what_has_come_is_found_from_the_end() {
        let due = |missed, now| Found::new(&schedule(missed, Some(60)), at(now)).due;
        assert_eq!(due(Missed::Last, 59), []);
        assert_eq!(due(Missed::Last, 60), [at(60)]);
        assert_eq!(due(Missed::Skip, 200), [at(180)]);
        assert_eq!(due(Missed::All(2), 200), [at(120), at(180)]);
        assert_eq!(due(Missed::All(9), 200), [at(60), at(120), at(180)]);
        assert_eq!(due(Missed::Last, 180), [at(120), at(180)], "a minute ago is in time");
        let years = 40_000_000;
        assert_eq!(due(Missed::Last, years).len(), 1, "and not a minute at a time");
    }

    #[test]
    fn nothing_of_the_last_minute_is_missed() {
        let mut each_second = schedule(Missed::Last, Some(1));
        each_second.spec.cron = "* * * * * *".to_owned();
        for (now, first) in [(1, 1), (3, 1), (61, 1), (62, 2), (40_000_000, 39_999_940)] {
            let found = Found::new(&each_second, at(now));
            assert!(found.due.iter().copied().eq((first..=now).map(at)), "{now}: {found:?}");
        }
        let begins = Found::new(&schedule(Missed::Skip, Some(90)), at(125));
        assert_eq!(begins.due, [at(90), at(120)], "also a first moment of its own");
    }

    #[test]
    fn a_first_moment_need_not_be_one_of_the_timetable() {
        let found = Found::new(&schedule(Missed::All(9), Some(90)), at(130));
        assert_eq!(found, Found { due: vec![at(90), at(120)], next: Next::At(at(180)) });
        let found = Found::new(&schedule(Missed::Last, Some(90)), at(95));
        assert_eq!(found, Found { due: vec![at(90)], next: Next::At(at(120)) });
    }

    #[test]
    fn what_is_left_to_others_is_still_to_come() {
        let found = Found::new(&schedule(Missed::All(9), Some(60)), at(130)).left_to_others();
        assert_eq!(found, Found { due: vec![], next: Next::At(at(60)) });
        let none = || Found::new(&schedule(Missed::All(9), Some(60)), at(5));
        assert_eq!(none().left_to_others(), none());
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let mut wrong = schedule(Missed::Last, None);
        wrong.spec.cron = "nonsense".to_owned();
        let found = Found::new(&wrong, at(5));
        assert!(matches!(&found.next, Next::Unknown(why) if why.contains("nonsense")), "{found:?}");
        assert_eq!(found.next_at(), None);
    }

    #[test]
    fn the_next_ones_in_order() {
        let spec = ScheduleSpec::new("report", "* * * * *");
        assert_eq!(upcoming(&spec, None, at(5), 2).unwrap(), [at(60), at(120)]);
        assert_eq!(upcoming(&spec, Some(at(90)), at(5), 2).unwrap(), [at(90), at(120)]);
    }
}
