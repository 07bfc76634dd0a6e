//! Tasks of steps whose attempts hold resources: taken in the transaction that grants those.

use pgflow_machine::{Claim, TaskLease};

use super::session::{Connected, PostgresSession};
use crate::claim::{Handout, Room};
use crate::error::{is_about, translate};
use crate::open::Postgres;
use pgflow_backend::store::Stored;

const CLAIM: &str = "
  select flow_slug, run_id, step_slug, task_index, attempt, input, timeout
    from pgflow.claim_tasks($1, $2, $3, $4, $5, $6)";

impl Postgres {
    pub(super) async fn take_in(
        &self,
        session: &mut PostgresSession<Connected>,
        claim: &Claim,
    ) -> Stored<(Vec<TaskLease>, Vec<Handout>)> {
        let room = Room::of(claim);
        let rows = session.ask_raw(|| room.bind(sqlx::query(CLAIM))).await;
        let rows = rows.inspect_err(|error| {
            // Its row was deleted: the next claim writes it again.
            if is_about(error, "step_tasks_last_worker_id_fkey") {
                self.workers.deleted(claim.worker);
            }
        });
        let tasks = rows.map_err(translate)?;
        let tasks = tasks.iter().map(|row| self.read_task(row));
        let tasks = tasks.collect::<Result<Vec<_>, _>>().map_err(translate)?;
        let leases = tasks.iter().filter_map(lease).collect();
        Ok((leases, tasks))
    }
}

/// Also of one that cannot be read: it is held until that is recorded.
fn lease(task: &Handout) -> Option<TaskLease> {
    match task {
        Handout::Task(task) => Some(task.lease.clone()),
        Handout::Unreadable(settle) => settle.lease.task().cloned(),
    }
}
