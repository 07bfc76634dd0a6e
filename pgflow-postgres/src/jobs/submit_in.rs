//! Submitting in a transaction of the application's.

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_machine::Limits;
use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use sqlx::PgConnection;

use super::arrays::Columns;
use super::check_caller;
use super::problem::Problem;
use super::submit::{outcome, statement};
use crate::error::translate;

/// Submits a job as part of the transaction that is open on this connection.
pub fn submit_in<'a>(
    connection: &'a mut PgConnection,
    job: &'a NewJob,
    by: &'a str,
) -> Reply<'a, Result<Submitted, JobProblem>> {
    Box::pin(async move {
        check_transaction(connection)?;
        check_caller(by)?;
        // What can't be sent at all; the core looks at the rest.
        if let Err(problem) = job.check(&Limits { max_bytes: usize::MAX, ..Limits::default() }) {
            return Ok(Err(problem));
        }
        let columns = Columns::of([job]);
        match statement(&columns, by).fetch_one(connection).await {
            Ok(row) => outcome(&row).map(Ok),
            Err(error) => match Problem::of(&error) {
                Some(problem) => Ok(Err(problem.about(job.after.iter()))),
                None => Err(translate(error)),
            },
        }
    })
}
