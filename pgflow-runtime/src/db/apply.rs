//! Applying the migrations of a program's flows.

use std::pin::Pin;

use pgflow_backend::flow_migrations::note;

use super::Db;
use crate::FlowMigrations;
use crate::backend::BackendError;
use crate::check::Applies;

/// A type that does not mention what was given: of what is none, the compiler would say so at each mention.
type Applying<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<&'static str>, BackendError>> + Send + 'a>>;

impl Db {
    /// Applies the migrations of the program's flows that the database does not have yet, and returns their
    /// names: `db.apply(&pgflow::migrations!())`. Safe to call at every start of every process.
    ///
    /// The files are for Postgres; every other database applies what they say in its own words.
    #[expect(clippy::needless_pass_by_value, reason = "they may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn apply<M>(&self, migrations: M) -> Applying<'_> where Self: Applies<M> {
        let migrations = <Self as Applies<M>>::migrations(&migrations);
        Box::pin(async move { self.apply_all(&migrations).await })
    }

    async fn apply_all(
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
