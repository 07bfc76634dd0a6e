//! Registering flows without migration files.

use std::pin::Pin;

use super::{Db, RegisterFlowError};
use crate::backend::{Ensured, FlowVersion};
use crate::check::Runs;
use crate::schema::input_schema;
use crate::{FlowDef, Registry};

/// A type that does not mention the flow: of what is none, the compiler would say so at each mention.
type Registering<'a> = Pin<Box<dyn Future<Output = Result<(), RegisterFlowError>> + Send + 'a>>;

impl Db {
    /// Makes a flow known to the database: for development, tests and programs that keep no migration files.
    ///
    /// If the database does not know this version of the flow, it is created. If it does, and the graph is the
    /// same, nothing happens. If the graph is another one, nothing is changed, and the error says what
    /// differs. Options such as timeouts are not compared: those in the database count.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn register<F>(&self, flow: F) -> Registering<'_> where Self: Runs<F> {
        let checked = Registry::default().with(<Self as Runs<F>>::given(flow));
        Box::pin(async {
            checked?;
            self.ensure(<Self as Runs<F>>::DEF).await
        })
    }

    async fn ensure(&self, flow: &'static FlowDef) -> Result<(), RegisterFlowError> {
        match self.backend.ensure_flow(&version_of(flow)).await? {
            Ensured::Created => tracing::info!(flow = flow.version_slug, "flow registered"),
            Ensured::Same => {}
            Ensured::Conflict(differences) => {
                let slug = flow.version_slug.to_owned();
                return Err(RegisterFlowError::Conflict { slug, differences });
            }
        }
        self.declared().learn(flow);
        if let Some(interface) = &super::program(flow).interface {
            self.backend.set_interface(flow.version_slug, interface).await?;
        }
        if let Some(schema) = input_schema(flow) {
            self.backend.set_input_schema(flow.version_slug, schema.as_value()).await?;
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
