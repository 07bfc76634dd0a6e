//! Starting runs.

use std::sync::Arc;

use pgflow_machine::{Limits, RunId, StartError, Turn};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::Sqlite;
use super::clock;
use super::definitions::{Definitions, Session, Version};
use super::error::{Error, Result, broken};
use super::load::Run;
use super::write::Writes;
use crate::backend::{BackendError, NewRun, Reply, Started};
use crate::gathering::Gathering;
use crate::start_in::{StartIn, check_transaction};

const INSERT: &str = "
    insert into pgflow_runs (run_id, flow, status, remaining_steps, last_seq, started_at)
    values (?, ?, 'started', ?, 0, ?)
        on conflict (run_id) do nothing
    returning id";

const FLOW_OF: &str = "
    select f.name from pgflow_runs r join pgflow_flows f on f.id = r.flow where r.run_id = ?";

/// Starts that wait for their turn: those that come while others are written share a transaction.
pub(super) type Starts = Gathering<NewRun, Result<Started, BackendError>>;

/// In one transaction, which others wait for.
const MOST: usize = 100;

pub(super) async fn start(sqlite: &Sqlite, new: NewRun) -> Result<Started, BackendError> {
    // Not later: others may be in front of it, who wait for the lock.
    sqlite.connections.lock.check_not_held()?;
    if new.input.is_array() {
        // Probably for a map: others are not to wait for its tasks.
        return Ok(start_one(sqlite, &new).await?);
    }
    sqlite.starts.send(new, MOST, |runs| start_all(sqlite, runs)).await
}

async fn start_one(sqlite: &Sqlite, run: &NewRun) -> Result<Started> {
    let answers = start_together(sqlite, std::slice::from_ref(run)).await?;
    let answer = answers.into_iter().next().ok_or_else(|| broken("a start has no answer"))?;
    Ok(answer?)
}

async fn start_all(sqlite: &Sqlite, runs: Vec<NewRun>) -> Vec<Result<Started, BackendError>> {
    let error = match start_together(sqlite, &runs).await {
        Ok(answers) => return answers,
        Err(error) => BackendError::from(error),
    };
    if runs.len() == 1 {
        return vec![Err(error)];
    }
    if error.is_temporary() {
        return runs.iter().map(|_| Err(error.for_others())).collect();
    }
    // One of them is at fault: each is told about its own.
    let mut answers = Vec::new();
    for run in &runs {
        answers.push(start_one(sqlite, run).await.map_err(Into::into));
    }
    answers
}

async fn start_together(
    sqlite: &Sqlite,
    runs: &[NewRun],
) -> Result<Vec<Result<Started, BackendError>>> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let (mut answers, mut news) = (Vec::new(), Vec::new());
    for run in runs {
        answers.push(match start_in(&mut tx, &session, run.clone()).await {
            Ok((started, version)) => {
                news.extend(Some(version).filter(|_| started == Started::Created));
                Ok(started)
            }
            // It is refused before anything is written, so the others are not touched.
            Err(Error::Backend(refusal)) if !matches!(refusal, BackendError::Schema(_)) => {
                Err(refusal)
            }
            Err(error) => return Err(error),
        });
    }
    tx.commit().await?;
    news.dedup_by(|a, b| Arc::ptr_eq(a, b));
    for version in news {
        sqlite.hints.flow(version.slug());
    }
    Ok(answers)
}

/// Starts a run in a transaction that has the write lock. Also returns the version it is of.
pub(super) async fn start_in(
    connection: &mut SqliteConnection,
    session: &Session,
    new: NewRun,
) -> Result<(Started, Arc<Version>)> {
    let version = Arc::clone(session.definitions.newest(&new.flow)?);
    if exists(connection, &new).await? {
        return Ok((Started::Existing, version));
    }
    let text = new.input.to_string();
    let (state, change) = Turn::start(&version.plan, Arc::new(new.input), &Limits::default())
        .map_err(|why| refusal(new.flow, why))?;
    let id: i64 = sqlx::query_scalar(INSERT)
        .bind(new.id.0)
        .bind(version.id)
        .bind(state.remaining_steps)
        .bind(session.now)
        .fetch_one(&mut *connection)
        .await?;
    let data = "insert into pgflow_run_data (run, input) values (?, ?)";
    sqlx::query(data).bind(id).bind(text).execute(&mut *connection).await?;
    let first_tasks = vec![None; state.steps.len()];
    let mut run = Run { id, version, last_seq: 0, state, first_tasks };
    let mut writes = Writes::default();
    writes.add(&run, change);
    writes.flush(connection, session, std::iter::once(&mut run)).await?;
    Ok((Started::Created, run.version))
}

/// Whether there is such a run; an error if it is of another flow.
async fn exists(connection: &mut SqliteConnection, new: &NewRun) -> Result<bool> {
    let query = sqlx::query_scalar(FLOW_OF).bind::<Uuid>(new.id.0);
    match query.fetch_optional(connection).await? {
        None => Ok(false),
        Some(flow) if flow == new.flow => Ok(true),
        Some(flow) => Err(other_flow(new.id, flow).into()),
    }
}

fn other_flow(run: RunId, flow: String) -> BackendError {
    BackendError::OtherFlow { run, flow }
}

fn refusal(flow: String, why: StartError) -> BackendError {
    match why {
        StartError::NotAnArray { found } => BackendError::NotAnArray { flow, found },
        StartError::TooWide(source) => {
            BackendError::Payload { what: "the run's input".to_owned(), source }
        }
        other => BackendError::Refused(Box::new(other)),
    }
}

impl StartIn for SqliteConnection {
    /// Begin the transaction with `BEGIN IMMEDIATE`: one that has read before it writes can't get the write
    /// lock while others write, and fails at once.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(async move {
            check_transaction(self)?;
            let start = async {
                let now = clock::now(self).await?;
                let definitions = Arc::new(Definitions::newest_of(self, &run.flow).await?);
                start_in(self, &Session { now, definitions }, run).await
            };
            Ok(start.await.map(|(started, _)| started)?)
        })
    }
}
