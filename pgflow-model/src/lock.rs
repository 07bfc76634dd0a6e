//! `pgflow.lock`: the versions of flows that the committed migrations create.
//!
//! Each version of a flow is a block of lines: the flow, its last migration, and a line per step, so
//! that a change to a flow is a change of a few lines in review.

mod line;
mod read;
mod words;

use std::collections::BTreeSet;
use std::fmt;

use crate::FlowShape;
use crate::impact::can_finish;

pub use line::step_line;
pub use read::LockError;

const HEADER: &str = "# Written by pgflow when the crate is built. Commit it; do not edit it.\n";

/// What `pgflow.lock` says.
///
/// ```
/// use pgflow_model::Lock;
///
/// let text = "flow orders v1 : Order\n  migration 0001_create_orders.sql sha256 00\n  step pay\n";
/// let lock: Lock = text.parse()?;
/// assert_eq!(lock.newest("orders").unwrap().version, 1);
/// assert!(lock.to_string().ends_with(text));
/// # Ok::<(), pgflow_model::LockError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// Where migrations are, below the crate, and the style of their names.
    pub migrations: Option<(String, String)>,
    /// Files that the build script named besides those that cargo starts from.
    pub roots: Vec<String>,
    /// Files that hold no flows, as the build script said.
    pub no_flows_in: Vec<String>,
    /// Which migrations may still be rewritten, where no version control says so.
    pub drafts: Option<DraftsAfter>,
    /// Flows that are gone from the source on purpose, and stay in the database with their runs.
    pub retired: BTreeSet<String>,
    /// Flows that were deleted with all their runs, and the migrations that do it.
    pub dropped: Vec<(String, String)>,
    /// Versions of flows, by name and number.
    pub versions: Vec<LockedVersion>,
}

/// Where the migrations begin that may still be rewritten.
///
/// ```
/// use pgflow_model::Lock;
///
/// let lock: Lock = "drafts 7c0ffee1 after 0002_tune_orders.sql\n".parse()?;
/// assert_eq!(lock.drafts.unwrap().after.as_deref(), Some("0002_tune_orders.sql"));
/// # Ok::<(), pgflow_model::LockError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftsAfter {
    /// The directory that they were written in; in a copy elsewhere nothing is rewritten.
    pub place: String,
    /// The last file that stays as it is; none if all may be rewritten.
    pub after: Option<String>,
}

/// A version of a flow as its last migration left it.
#[derive(Clone, Debug, PartialEq)]
pub struct LockedVersion {
    /// Its number.
    pub version: u32,
    /// File name of the last migration that touched it.
    pub migration: String,
    /// SHA-256 of that file, in hex.
    pub checksum: String,
    /// The graph; its slug is the name of the flow.
    pub shape: FlowShape,
}

/// An earlier version whose runs some code can finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finishable {
    /// Its number.
    pub version: u32,
    /// Slugs of its steps and those they have now, where they differ.
    pub renamed: Vec<(String, String)>,
}

impl Lock {
    /// The versions of a flow, oldest first.
    pub fn versions_of<'a>(
        &'a self,
        flow: &'a str,
    ) -> impl DoubleEndedIterator<Item = &'a LockedVersion> {
        self.versions.iter().filter(move |locked| locked.shape.slug == flow)
    }

    /// The newest version of a flow.
    pub fn newest(&self, flow: &str) -> Option<&LockedVersion> {
        self.versions.iter().rfind(|locked| locked.shape.slug == flow)
    }

    /// Whether it has a flow, or a migration that deleted it.
    ///
    /// ```
    /// let lock: pgflow_model::Lock = "dropped orders by 0002_drop_orders.sql\n".parse()?;
    /// assert!(lock.knows("orders") && !lock.knows("mail"));
    /// # Ok::<(), pgflow_model::LockError>(())
    /// ```
    pub fn knows(&self, flow: &str) -> bool {
        self.newest(flow).is_some() || self.dropped.iter().any(|(dropped, _)| dropped == flow)
    }

    /// That version of a flow.
    pub fn get(&self, flow: &str, version: u32) -> Option<&LockedVersion> {
        self.versions.iter().find(|locked| locked.shape.slug == flow && locked.version == version)
    }

    /// Records a version, in place of what was known of it.
    pub fn set(&mut self, locked: LockedVersion) {
        let key = |locked: &LockedVersion| (locked.shape.slug.clone(), locked.version);
        self.versions.retain(|other| key(other) != key(&locked));
        self.versions.push(locked);
        self.versions.sort_by_key(key);
    }

    /// Versions older than `version` whose runs its code can finish.
    pub fn finishable(&self, flow: &str, version: u32) -> Vec<Finishable> {
        let versions: Vec<_> = self.versions_of(flow).collect();
        let Some(at) = versions.iter().position(|locked| locked.version == version) else {
            return Vec::new();
        };
        (0..at).filter_map(|old| finishable(&versions[old..=at])).collect()
    }
}

/// Whether the code of the last of these versions can finish runs of the first.
fn finishable(versions: &[&LockedVersion]) -> Option<Finishable> {
    let (old, new) = (versions.first()?, versions.last()?);
    let renamed = |slug| {
        versions[1..].iter().fold(slug, |slug: &str, version| {
            let step = version.shape.steps.iter().find(|step| step.was.as_deref() == Some(slug));
            step.map_or(slug, |step| &step.slug)
        })
    };
    can_finish(&new.shape, &old.shape, &renamed).then(|| {
        let pairs = old.shape.steps.iter().map(|step| (&*step.slug, renamed(&step.slug)));
        let differ = pairs.filter(|(old, new)| old != new);
        let renamed = differ.map(|(old, new)| (old.to_owned(), new.to_owned())).collect();
        Finishable { version: old.version, renamed }
    })
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        if let Some((dir, style)) = &self.migrations {
            writeln!(f, "migrations {style} {dir}")?;
        }
        for (word, files) in [("root", &self.roots), ("no_flows_in", &self.no_flows_in)] {
            files.iter().try_for_each(|file| writeln!(f, "{word} {file}"))?;
        }
        if let Some(DraftsAfter { place, after }) = &self.drafts {
            let after = after.as_ref().map(|after| format!(" after {after}")).unwrap_or_default();
            writeln!(f, "drafts {place}{after}")?;
        }
        for flow in &self.retired {
            writeln!(f, "retired {flow}")?;
        }
        for (flow, migration) in &self.dropped {
            writeln!(f, "dropped {flow} by {migration}")?;
        }
        for LockedVersion { version, migration, checksum, shape } in &self.versions {
            writeln!(f, "\n{}", line::flow_line(shape, *version))?;
            writeln!(f, "  migration {migration} sha256 {checksum}")?;
            for step in &shape.steps {
                writeln!(f, "  step {}", step_line(step))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OnSkip, StepShape};

    fn locked(version: u32, steps: Vec<StepShape>) -> LockedVersion {
        let shape = FlowShape { steps, ..FlowShape::new("orders") };
        LockedVersion { version, migration: "1.sql".into(), checksum: "ab".into(), shape }
    }

    #[test]
    fn reads_what_it_writes() {
        let mut step = StepShape::new("b").after("a").after("c").map();
        step.only_if = Some(r#"{"a":{"x : y":" unless={}"}}"#.parse().expect("a pattern"));
        step.unless = Some(r#"{"c":[1]}"#.parse().expect("a pattern"));
        step.when_unmet = OnSkip::Fail;
        step.when_exhausted = OnSkip::SkipCascade;
        step.options.timeout = Some(30);
        step.output_type = Some("HashMap<String, (u8, u8)>".into());
        step.was = Some("old".into());
        let mut lock =
            Lock { migrations: Some(("a dir".into(), "sqlx".into())), ..Lock::default() };
        lock.drafts = Some(DraftsAfter { place: "ab".into(), after: None });
        lock.roots = vec!["src/a flow.rs".into(), "b.rs".into()];
        lock.no_flows_in = vec!["src/made.rs".into()];
        lock.retired.insert("old".into());
        lock.dropped.push(("older".into(), "0003_drop_older.sql".into()));
        lock.set(locked(10, vec![step]));
        lock.set(locked(2, vec![StepShape::new("map"), StepShape::new("step")]));
        lock.versions[0].shape.options.max_attempts = Some(7);
        lock.versions[0].shape.format = 2;
        lock.versions[0].shape.input_type = Some("Order".into());
        assert_eq!(lock.to_string().parse::<Lock>(), Ok(lock.clone()));
        assert_eq!(lock.newest("orders").map(|locked| locked.version), Some(10));
    }

    #[test]
    fn renames_are_followed_through_versions() {
        let named = |slug: &str, was: Option<&str>| {
            let mut step = StepShape::new(slug);
            step.was = was.map(str::to_owned);
            step
        };
        let mut lock = Lock::default();
        lock.set(locked(1, vec![named("a", None)]));
        lock.set(locked(2, vec![named("b", Some("a"))]));
        lock.set(locked(3, vec![named("c", Some("b")), named("d", None)]));
        let renamed = |from: &str| vec![(from.to_owned(), "c".to_owned())];
        assert_eq!(
            lock.finishable("orders", 3),
            [
                Finishable { version: 1, renamed: renamed("a") },
                Finishable { version: 2, renamed: renamed("b") },
            ]
        );
        lock.set(locked(4, vec![named("d", None)]));
        assert_eq!(lock.finishable("orders", 4), []);
    }
}
