//! What is sent to hooks.

use pgflow_machine::wait::{Signal, SignalProblem, SignalTo, Signalled};
use pgflow_machine::{Limits, PayloadError, RunId, TaskKey};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::asks_to_wake;
use crate::batch::without_nul;
use crate::claim::int;
use crate::ended::ended;
use crate::engine::{Lane, Statement};
use crate::error::{translate, unexpected};
use crate::open::Postgres;
use crate::problem::{Problem, problem};
use crate::streams::micros;
use pgflow_backend::backend::{BackendError, Reply};
use pgflow_backend::sql::check_transaction;

/// With the run that this has ended, if it has.
macro_rules! signal {
    ($call:literal) => {
        concat!(
            "select s.outcome, s.path, s.message, s.run_id, s.step_slug, s.task_index,
                    e.flow_slug, e.status, to_jsonb(e.error) as error, current_setting('pgflow.wakes', true) as wakes
               from ",
            $call,
            " s left join lateral pgflow.ended_runs(array[s.run_id]) e on true"
        )
    };
}
const SIGNAL: &str = signal!("pgflow.signal($4, $1, $2, $3 * interval '1 microsecond')");
const SIGNAL_TASK: &str =
    signal!("pgflow.signal_task($4, $5, $6, $1, $2, $3 * interval '1 microsecond')");

impl Postgres {
    pub(super) async fn send_signal(&self, signal: &Signal) -> Result<Signalled, BackendError> {
        check(signal)?;
        let rows = self.engine.ask(Lane::Client, || statement(signal)).await;
        let rows = rows.map_err(refused)?;
        let signalled = signalled(&rows)?;
        if let (Signalled::Delivered(_), Some(row)) = (&signalled, rows.first()) {
            if row.try_get::<Option<&str>, _>("status").map_err(translate)?.is_some() {
                ended(row, "status", "error")?.announce();
            }
            self.bell.ring_all();
        }
        if asks_to_wake(&rows) {
            self.wake_later(Lane::Client).await;
        }
        Ok(signalled)
    }
}

/// Sends a signal as part of the transaction that is open on this connection.
pub fn signal_in<'a>(connection: &'a mut PgConnection, signal: &'a Signal) -> Reply<'a, Signalled> {
    Box::pin(async move {
        check_transaction(connection)?;
        check(signal)?;
        let rows = statement(signal).fetch_all(connection).await.map_err(refused)?;
        signalled(&rows)
    })
}

fn statement(signal: &Signal) -> Statement<'_> {
    let bind = |sql: &'static str| {
        let statement = sqlx::query(sql).bind(&signal.payload);
        statement.bind(signal.resume_id.as_deref().map(without_nul)).bind(micros(signal.buffer_for))
    };
    match &signal.to {
        SignalTo::Token(token) => bind(SIGNAL).bind(token.as_str()),
        SignalTo::Task(task) => {
            bind(SIGNAL_TASK).bind(task.run.0).bind(without_nul(&task.step)).bind(int(task.index))
        }
    }
}

/// What can't be sent at all; the core looks at the rest.
fn check(signal: &Signal) -> Result<(), BackendError> {
    let any = Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_fanout: usize::MAX };
    signal.check(&any).map_err(|problem| match problem {
        SignalProblem::Payload(source) => payload(source),
        other => BackendError::Refused(Box::new(other)),
    })
}

fn payload(source: PayloadError) -> BackendError {
    BackendError::Payload { what: "the payload of a signal".to_owned(), source }
}

fn refused(error: sqlx::Error) -> BackendError {
    match problem(&error) {
        Some(Problem::TooLarge { bytes, limit }) => {
            payload(PayloadError::TooLarge { bytes, limit })
        }
        Some(Problem::TooDeep { limit }) => {
            payload(PayloadError::TooDeep { path: "$".to_owned(), limit })
        }
        Some(Problem::TooManySignals { limit }) => BackendError::TooManySignals { limit },
        _ => translate(error),
    }
}

fn signalled(rows: &[PgRow]) -> Result<Signalled, BackendError> {
    let row = rows.first().ok_or_else(|| unexpected("no answer to a signal"))?;
    let text = |column| -> Result<String, BackendError> {
        Ok(row.try_get::<Option<String>, _>(column).map_err(translate)?.unwrap_or_default())
    };
    match row.try_get("outcome").map_err(translate)? {
        "delivered" => {
            let index: i32 = row.try_get("task_index").map_err(translate)?;
            let run = RunId(row.try_get("run_id").map_err(translate)?);
            let step = text("step_slug")?;
            Ok(Signalled::Delivered(TaskKey { run, step, index: index.unsigned_abs() }))
        }
        "duplicate" => Ok(Signalled::Duplicate),
        "conflict" => Ok(Signalled::Conflict),
        "buffered" => Ok(Signalled::Buffered),
        "rejected" => Ok(Signalled::Rejected { path: text("path")?, message: text("message")? }),
        "gone" => Ok(Signalled::Gone),
        other => Err(unexpected(format_args!("the outcome `{other}` of a signal"))),
    }
}
