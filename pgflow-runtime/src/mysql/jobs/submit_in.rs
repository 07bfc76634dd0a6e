//! Submitting in a transaction of the application's.

use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use sqlx::MySqlConnection;

use crate::SubmitIn;
use crate::backend::Reply;
use crate::mysql::session::MySqlSession;
use crate::start_in::check_transaction;
use crate::store::submit_in;

#[diagnostic::do_not_recommend]
impl SubmitIn for MySqlConnection {
    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        Box::pin(async move {
            check_transaction(self)?;
            submit_in(&mut MySqlSession::inside(&mut *self).await?, job, by).await
        })
    }
}
