//! Versions of flows.

use std::sync::Arc;

use pgflow_model::{FlowShape, differences};

use super::{InvalidShape, Plan};

/// A version of a flow, as a program knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowVersion {
    /// Name of the flow, for all its versions: what runs are started by.
    pub flow: String,
    /// Its number, from 1.
    pub version: u32,
    /// Its own name, which is also that of its queue.
    pub slug: String,
    /// Its graph. Comparisons look at [`FlowShape::normalized`].
    pub shape: FlowShape,
}

/// What became of a version that a program wants to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It was not there and is now.
    Created,
    /// It was there. Options such as timeouts may differ: those in the database count.
    Same,
    /// Something else is there under this name: what differs, a sentence each. Nothing was changed.
    Conflict(Vec<String>),
}

/// A version of a flow, as a store knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// The store's own number for it.
    pub id: i64,
    /// Name of the flow.
    pub flow: String,
    /// Its number, from 1.
    pub number: u32,
    /// Its graph.
    pub shape: FlowShape,
    /// Its graph, made ready to be run.
    pub plan: Plan,
    /// What it takes and puts out, as a hash.
    pub interface: Option<String>,
}

impl Version {
    /// From what a store has; `id` is its number there.
    pub fn new(
        id: i64,
        version: FlowVersion,
        interface: Option<String>,
    ) -> Result<Self, InvalidShape> {
        let FlowVersion { flow, version: number, slug, mut shape } = version;
        // The name of the queue, whatever name the shape was written under.
        shape.slug = slug;
        let plan = Plan::new(&shape)?;
        Ok(Self { id, flow, number, shape, plan, interface })
    }

    /// Its own name, which is also that of its queue.
    pub fn slug(&self) -> &Arc<str> {
        self.plan.slug()
    }

    /// Whether its runs are of the flow of this name.
    pub fn is_of(&self, flow: &str) -> bool {
        self.flow == flow || &**self.slug() == flow
    }

    /// How it differs from what a program wants under the same name.
    pub(super) fn compare(&self, wanted: &FlowVersion) -> Ensured {
        let mut found = Vec::new();
        if (&self.flow, self.number) != (&wanted.flow, wanted.version) {
            found.push(format!(
                "`{}` is version {} of flow `{}`, not version {} of `{}`",
                wanted.slug, self.number, self.flow, wanted.version, wanted.flow
            ));
        }
        found.extend(differences(&self.shape, &wanted.shape));
        if found.is_empty() { Ensured::Same } else { Ensured::Conflict(found) }
    }
}
