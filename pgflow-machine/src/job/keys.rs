//! Keys: one leased job at a time, and the others in line.
//!
//! Each need has a head in the line of a key: the best of its jobs, by priority, then by place. Heads are ready while
//! nobody has the key; all others are parked, so that no claim wades through them.

use std::collections::BTreeMap;

use super::transition::Transition;
use super::{JobId, JobRow, JobState};
use crate::Refusal;

impl Transition<'_, '_> {
    /// Whether a job has this key now.
    pub(super) fn is_held(&self, key: &str) -> bool {
        matches!(self.rows.keys.get(key), Some(Some(_)))
    }

    /// Gives a key to a job, or to none.
    pub(super) fn set_key(&mut self, key: String, holder: Option<JobId>) {
        self.writes.keys.insert(key.clone());
        self.disturbed.insert(key.clone());
        self.rows.keys.insert(key, holder);
    }

    /// Puts the lines of keys in order in which something changed.
    pub(super) fn line_up(&mut self) -> Result<(), Refusal> {
        let disturbed = std::mem::take(&mut self.disturbed);
        if disturbed.is_empty() {
            return Ok(());
        }
        let mut lines: BTreeMap<(&str, &str), Vec<(&JobId, &JobRow)>> = BTreeMap::new();
        let in_line = |row: &JobRow| matches!(row.state, JobState::Ready | JobState::Parked);
        for (id, row) in self.rows.jobs.iter().filter(|(_, row)| in_line(row)) {
            if let Some(key) = row.key.as_ref().filter(|key| disturbed.contains(*key)) {
                lines.entry((key, &row.need)).or_default().push((id, row));
            }
        }
        let mut moved = Vec::new();
        for ((key, _), mut line) in lines {
            line.sort_by_key(|(_, row)| row.place());
            let mut head = if self.is_held(key) { JobState::Parked } else { JobState::Ready };
            for (id, row) in line {
                if row.state != head {
                    moved.push((id.clone(), head));
                }
                head = JobState::Parked;
            }
        }
        for (id, state) in moved {
            let now = self.now;
            let Some(row) = self.change(&id) else { continue };
            row.state = state;
            if state == JobState::Ready {
                row.is_back(now);
            }
        }
        disturbed.iter().try_for_each(|key| self.rows.check_line(key))
    }
}
