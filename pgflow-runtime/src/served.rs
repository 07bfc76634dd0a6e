//! Which versions of flows a program has code for.

use crate::{FlowDef, Registry, StepDef};

/// A version of a flow that a program has code for.
///
/// A worker takes tasks from the queues of these versions and leaves all others alone.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// let registry = pgflow::definition::Registry::default().with(ping::Flow)?;
/// let served = registry.served();
/// assert_eq!((served[0].slug(), served[0].version()), ("ping", 1));
/// assert_eq!(served[0].step("pong").unwrap().slug, "pong");
/// # Ok::<(), pgflow::definition::RegisterError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Served {
    flow: &'static FlowDef,
    version: u32,
    slug: &'static str,
    renamed: &'static [(&'static str, &'static str)],
}

impl Served {
    /// The name of the version in the database, and of its queue.
    pub fn slug(&self) -> &'static str {
        self.slug
    }

    /// Its number.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The code that serves it, which may be that of a newer version.
    pub fn flow(&self) -> &'static FlowDef {
        self.flow
    }

    /// The step that this version calls `slug`.
    pub fn step(&self, slug: &str) -> Option<&'static StepDef> {
        self.flow.step(self.current(slug))
    }

    /// What the code calls the step that this version calls `slug`.
    pub fn current<'a>(&self, slug: &'a str) -> &'a str
    where
        Self: 'a,
    {
        self.renamed.iter().find(|(old, _)| *old == slug).map_or(slug, |(_, new)| new)
    }

    /// What this version calls the step that the code calls `slug`.
    #[cfg(feature = "engine")]
    pub(crate) fn former(&self, slug: &'static str) -> &'static str {
        self.renamed.iter().find(|(_, new)| *new == slug).map_or(slug, |(old, _)| old)
    }
}

impl Registry {
    /// Every version that the program has code for: its own, and older ones that it can finish.
    ///
    /// ```
    /// assert!(pgflow::definition::Registry::default().served().is_empty());
    /// ```
    pub fn served(&self) -> Vec<Served> {
        let own = self.flows().map(|flow| Served {
            flow,
            version: flow.version,
            slug: flow.version_slug,
            renamed: &[],
        });
        let mut served: Vec<_> = own.collect();
        for flow in self.flows() {
            for older in flow.finishes {
                // Code that was kept for a version knows it best.
                if served.iter().all(|known| known.slug != older.version_slug) {
                    let (version, slug) = (older.version, older.version_slug);
                    served.push(Served { flow, version, slug, renamed: older.renamed });
                }
            }
        }
        served
    }
}
