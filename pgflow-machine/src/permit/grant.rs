//! Attempts that all take the same.

use std::collections::BTreeMap;

use super::{Bucket, Resource, Rooms, Stage};
use crate::Timestamp;

/// What is left for attempts that all take the same, such as those at the tasks of one step.
///
/// ```
/// use pgflow_machine::Timestamp;
/// use pgflow_machine::permit::{Grants, Resource, Rooms, Stage};
///
/// let stage = Stage { resources: [("gpu".to_owned(), 2)].into(), ..Stage::default() };
/// let gpu = Resource { fence: 7, ..Resource::of(5, None) };
/// let rooms = Rooms::new([("gpu".to_owned(), gpu)].into(), []);
/// let mut grants = Grants::new(&stage, Timestamp::default(), rooms, [].into());
/// assert_eq!(grants.room(9), 2, "the fifth is not enough");
/// assert_eq!(grants.take(), Some([("gpu".to_owned(), 8)].into()));
/// assert_eq!(grants.room(9), 1);
/// ```
#[derive(Debug)]
pub struct Grants<'s> {
    stage: &'s Stage,
    now: Timestamp,
    rooms: Rooms,
    buckets: BTreeMap<String, Bucket>,
}

impl<'s> Grants<'s> {
    /// With what is there of resources and rates.
    pub fn new(
        stage: &'s Stage,
        now: Timestamp,
        rooms: Rooms,
        buckets: BTreeMap<String, Bucket>,
    ) -> Self {
        Self { stage, now, rooms, buckets }
    }

    /// How many attempts there is room for, up to `max`.
    pub fn room(&self, max: u32) -> u32 {
        let tokens = self.buckets.values().map(|bucket| bucket.available(self.now)).min();
        self.rooms.times(&self.stage.resources, tokens.map_or(max, |tokens| tokens.min(max)))
    }

    /// When there is a token again, if rates leave no room; never while one of them is paused.
    pub fn next(&self) -> Option<Timestamp> {
        let used_up = self.buckets.values().filter(|bucket| bucket.available(self.now) == 0);
        let next = used_up.map(|bucket| bucket.next_at(self.now));
        next.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Takes what an attempt needs, all or nothing: the number of each grant.
    pub fn take(&mut self) -> Option<BTreeMap<String, u64>> {
        if self.room(1) == 0 {
            return None;
        }
        for bucket in self.buckets.values_mut() {
            bucket.take(self.now, 1);
        }
        self.rooms.take(&self.stage.resources)
    }

    /// What was taken was had only now.
    pub fn had_late(&mut self, now: Timestamp) {
        self.buckets.values_mut().for_each(|bucket| bucket.had_late(self.now, now));
    }

    /// What is left of rates.
    pub fn buckets(&self) -> impl Iterator<Item = (&String, &Bucket)> {
        self.buckets.iter()
    }

    /// The resources, with the numbers of their last grants.
    pub fn resources(&self) -> impl Iterator<Item = (&String, &Resource)> {
        self.rooms.resources()
    }
}
