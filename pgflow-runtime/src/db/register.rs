//! Registering flows without migration files.

use super::{Db, RegisterFlowError};
use crate::backend::{Ensured, FlowVersion};
use crate::{Flow, FlowDef, Registry};

impl Db {
    /// Makes a flow known to the database: for development, tests and programs that keep no migration files.
    ///
    /// If the database does not know this version of the flow, it is created. If it does, and the graph is the
    /// same, nothing happens. If the graph is another one, nothing is changed, and the error says what
    /// differs. Options such as timeouts are not compared: those in the database count.
    pub async fn register<F: Flow>(&self, flow: F) -> Result<(), RegisterFlowError> {
        Registry::default().with(flow)?;
        match self.backend.ensure_flow(&version_of(F::DEF)).await? {
            Ensured::Created => tracing::info!(flow = F::DEF.version_slug, "flow registered"),
            Ensured::Same => {}
            Ensured::Conflict(differences) => {
                let slug = F::DEF.version_slug.to_owned();
                return Err(RegisterFlowError::Conflict { slug, differences });
            }
        }
        Ok(())
    }
}

/// A flow's own version, as the database compares it.
pub(crate) fn version_of(flow: &FlowDef) -> FlowVersion {
    FlowVersion {
        flow: flow.slug.to_owned(),
        version: flow.version,
        slug: flow.version_slug.to_owned(),
        shape: flow.shape(),
    }
}
