//! Submitting in a transaction of the application's.

use std::sync::Arc;

use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::{Catalog, Timestamp};
use sqlx::SqliteConnection;

use crate::SubmitIn;
use crate::backend::Reply;
use crate::sqlite::clock;
use crate::sqlite::session::SqliteSession;
use crate::start_in::check_transaction;
use crate::store::submit_in;

#[diagnostic::do_not_recommend]
impl SubmitIn for SqliteConnection {
    /// Begin the transaction with `BEGIN IMMEDIATE`: one that has read before it writes can't get the write lock while
    /// others write, and fails at once.
    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        Box::pin(async move {
            check_transaction(self)?;
            let now = Timestamp::from_micros(clock::now(self).await?);
            // Jobs do not look at flows.
            let catalog = Arc::new(Catalog::new(Vec::new()));
            submit_in(&mut SqliteSession::new(&mut *self, now, catalog), job, by).await
        })
    }
}
