//! All versions of flows that a store has, and which of them is meant.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Ensured, FlowVersion, NewRun, Refusal, Version};

/// The versions that a store has, at one moment.
///
/// ```
/// use pgflow_machine::{Catalog, Ensured, FlowVersion, Version};
/// use pgflow_model::{FlowShape, StepShape};
///
/// let mut shape = FlowShape::new("orders");
/// shape.steps = vec![StepShape::new("pay")];
/// let first = FlowVersion { flow: "orders".into(), version: 1, slug: "orders".into(), shape };
/// let catalog = Catalog::new([Version::new(7, first.clone(), None)?]);
/// assert_eq!(catalog.newest("orders").map(|version| version.id), Some(7));
/// assert_eq!(catalog.compare(&first), Some(Ensured::Same));
/// assert_eq!(catalog.compare(&FlowVersion { version: 2, slug: "orders_v2".into(), ..first }), None);
/// # Ok::<(), pgflow_machine::InvalidShape>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    versions: HashMap<i64, Arc<Version>>,
    slugs: HashMap<Arc<str>, i64>,
}

impl Catalog {
    /// Of these versions.
    pub fn new(versions: impl IntoIterator<Item = Version>) -> Self {
        let mut catalog = Self::default();
        versions.into_iter().for_each(|version| catalog.insert(version));
        catalog
    }

    /// Adds a version, or replaces the one of its id.
    pub fn insert(&mut self, version: Version) {
        self.slugs.insert(Arc::clone(version.slug()), version.id);
        self.versions.insert(version.id, Arc::new(version));
    }

    /// Takes a version out.
    pub fn remove(&mut self, id: i64) {
        if let Some(version) = self.versions.remove(&id) {
            self.slugs.remove(version.slug());
        }
    }

    /// The version of this slug.
    pub fn by_slug(&self, slug: &str) -> Option<&Arc<Version>> {
        self.versions.get(self.slugs.get(slug)?)
    }

    /// The version of this id.
    pub fn by_id(&self, id: i64) -> Option<&Arc<Version>> {
        self.versions.get(&id)
    }

    /// Those of these slugs that there are, each once, in the order of their slugs.
    pub fn by_slugs<'s>(&self, slugs: impl IntoIterator<Item = &'s str>) -> Vec<Arc<Version>> {
        let mut slugs: Vec<_> = slugs.into_iter().collect();
        slugs.sort_unstable();
        slugs.dedup();
        slugs.into_iter().filter_map(|slug| self.by_slug(slug).map(Arc::clone)).collect()
    }

    /// The version that new runs of a flow use: its newest, or the one of that very slug.
    pub fn newest(&self, flow: &str) -> Option<&Arc<Version>> {
        let versions = self.versions.values().filter(|version| version.flow == flow);
        versions.max_by_key(|version| version.number).or_else(|| self.by_slug(flow))
    }

    /// All versions of these flows, or of all flows if none is named, by flow and number.
    pub fn of(&self, flows: &[impl AsRef<str>]) -> Vec<&Arc<Version>> {
        let is_asked = |version: &&Arc<Version>| {
            flows.is_empty() || flows.iter().any(|flow| flow.as_ref() == version.flow)
        };
        let mut found: Vec<_> = self.versions.values().filter(is_asked).collect();
        found.sort_by(|a, b| (&a.flow, a.number).cmp(&(&b.flow, b.number)));
        found
    }

    /// The version that a new run uses.
    pub fn to_start(&self, new: &NewRun) -> Result<&Arc<Version>, Refusal> {
        let newest = self.newest(&new.flow);
        let newest = newest.ok_or_else(|| Refusal::UnknownFlow { flow: new.flow.clone() })?;
        let Some(program) = &new.compiled_for else { return Ok(newest) };
        let fits = |version: &&Arc<Version>| {
            version.flow == new.flow && program.fits(version.number, version.interface.as_deref())
        };
        let fitting = self.versions.values().filter(fits).max_by_key(|version| version.number);
        fitting.ok_or_else(|| Refusal::unknown_version(&new.flow, program))
    }

    /// How a version that a program wants compares with what is there under its name or number; nothing if it
    /// can be created.
    pub fn compare(&self, wanted: &FlowVersion) -> Option<Ensured> {
        let FlowVersion { flow, version, slug, .. } = wanted;
        if let Some(known) = self.by_slug(slug) {
            return Some(known.compare(wanted));
        }
        let mut all = self.versions.values();
        let taken = all.find(|known| known.flow == *flow && known.number == *version)?;
        let taken = taken.slug();
        let text = format!("version {version} of flow `{flow}` is `{taken}`, not `{slug}`");
        Some(Ensured::Conflict(vec![text]))
    }
}
