//! Applying the migrations of a program's flows.

use pgflow_backend::flow_migrations::note;

use super::Db;
use crate::FlowMigrations;
use crate::backend::BackendError;

impl Db {
    /// Applies the migrations of the program's flows that the database does not have yet, and returns their
    /// names: `db.apply(&pgflow::migrations!())`. Safe to call at every start of every process.
    ///
    /// The files are for Postgres; every other database applies what they say in its own words.
    pub async fn apply(
        &self,
        migrations: &FlowMigrations,
    ) -> Result<Vec<&'static str>, BackendError> {
        let applied = self.backend.apply(migrations).await?;
        if self.backend.abilities().multi_process {
            note(migrations);
        }
        Ok(applied)
    }
}
