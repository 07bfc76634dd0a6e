//! Counted resources.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Units;

/// A resource: so many units may be held at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Units.
    pub capacity: u32,
    /// The number of its last grant: every grant has a greater one.
    pub fence: u64,
    /// There is less of it than there was, and nothing was granted since: until then more may be held than there is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lowered: bool,
}

impl Resource {
    /// So many units, of what was there before.
    ///
    /// ```
    /// use pgflow_machine::permit::Resource;
    ///
    /// let gpu = Resource::of(4, None);
    /// assert!(Resource::of(2, Some(gpu)).lowered && !Resource::of(5, Some(gpu)).lowered);
    /// ```
    pub fn of(capacity: u32, before: Option<Self>) -> Self {
        let (fence, lowered) = before.map_or((0, false), |before| {
            (before.fence, before.lowered || capacity < before.capacity)
        });
        Self { capacity, fence, lowered }
    }
}

/// What is left of resources, for one claim.
#[derive(Clone, Debug, Default)]
pub struct Rooms {
    /// What there is, and how much of it is held.
    all: BTreeMap<String, (Resource, u64)>,
}

impl Rooms {
    /// These resources, of which so much is held.
    pub fn new(
        resources: BTreeMap<String, Resource>,
        held: impl IntoIterator<Item = (String, u32)>,
    ) -> Self {
        let mut rooms = Self::default();
        rooms.add(resources, held);
        rooms
    }

    /// More resources, of which so much is held.
    pub fn add(
        &mut self,
        resources: BTreeMap<String, Resource>,
        held: impl IntoIterator<Item = (String, u32)>,
    ) {
        self.all.extend(resources.into_iter().map(|(slug, resource)| (slug, (resource, 0))));
        for (slug, units) in held {
            if let Some((_, used)) = self.all.get_mut(&slug) {
                *used += u64::from(units);
            }
        }
    }

    /// Whether all of these can be had. What is not there cannot.
    pub fn fit(&self, units: &Units) -> bool {
        units.iter().all(|(slug, units)| {
            let room = self.all.get(slug);
            room.is_some_and(|(it, used)| used + u64::from(*units) <= u64::from(it.capacity))
        })
    }

    /// How often all of these can be had, up to `max` times. What is not there cannot.
    pub fn times(&self, units: &Units, max: u32) -> u32 {
        let times = |(slug, units): (&String, &u32)| {
            let (resource, used) = self.all.get(slug)?;
            let left = u64::from(resource.capacity).saturating_sub(*used);
            u32::try_from(left / u64::from((*units).max(1))).ok()
        };
        let each = units.iter().map(|wanted| times(wanted).unwrap_or_default());
        each.fold(max, u32::min)
    }

    /// Takes all of these, or none; the fence of each.
    pub fn take(&mut self, units: &Units) -> Option<BTreeMap<String, u64>> {
        if !self.fit(units) {
            return None;
        }
        let mut fences = BTreeMap::new();
        for (slug, units) in units {
            let (resource, used) = self.all.get_mut(slug)?;
            *used += u64::from(*units);
            resource.fence += 1;
            resource.lowered = false;
            fences.insert(slug.clone(), resource.fence);
        }
        Some(fences)
    }

    /// The resources, with the numbers of their last grants.
    pub fn resources(&self) -> impl Iterator<Item = (&String, &Resource)> {
        self.all.iter().map(|(slug, (resource, _))| (slug, resource))
    }
}
