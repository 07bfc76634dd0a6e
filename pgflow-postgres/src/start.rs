//! Starting runs.

use pgflow_machine::{Limits, PayloadError, check_payload, type_name};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::engine::{Lane, Statement};
use super::error::{code, is_about, translate, unexpected};
use super::moment::micros_of;
use super::open::Postgres;
use super::problem::{Problem, problem};
use super::streams::micros;
use pgflow_backend::backend::{BackendError, Begins, NewRun, Reply, Started};
use pgflow_backend::sql::check_transaction;

const START_IN: &str = "select flow_slug, created from pgflow.start_run(
    $1, $2, $3, $4, $5, timestamptz 'epoch' + $6 * interval '1 microsecond', $7 * interval '1 microsecond')";
/// A transaction of the application's that has started a run of the same id, and is still open, is waited for, but
/// not for long at once: other calls want the connection.
const START: &str = "
  with patience as materialized (select set_config('lock_timeout', '1000', true) as ms)
  select s.flow_slug, s.created
    from patience p
    cross join lateral pgflow.start_run(
      $1, $2, case when p.ms is not null then $3 end, $4, $5,
      timestamptz 'epoch' + $6 * interval '1 microsecond', $7 * interval '1 microsecond') s";

fn statement<'a>(sql: &'static str, run: &'a NewRun) -> Statement<'a> {
    let statement = sqlx::query(sql).bind(&run.flow).bind(&run.input).bind(run.id.0);
    let (at, delay) = match run.begins {
        Begins::Now => (None, None),
        Begins::At(moment) => (Some(micros_of(moment)), None),
        Begins::After(delay) => (None, Some(micros(delay))),
    };
    statement.bind(versions(run)).bind(interface(run)).bind(at).bind(delay)
}

/// The versions that the program's code is for.
pub(super) fn versions(run: &NewRun) -> Option<Vec<i32>> {
    let versions = run.compiled_for.as_ref()?.versions.iter();
    Some(versions.map(|version| super::claim::int(*version)).collect())
}

/// What the program's own version takes and puts out.
pub(super) fn interface(run: &NewRun) -> Option<&str> {
    run.compiled_for.as_ref()?.interface.as_deref()
}

impl Postgres {
    pub(super) async fn start_run(&self, run: &NewRun) -> Result<Started, BackendError> {
        let started = self.start_unless(run, || false).await?;
        started.ok_or_else(|| unexpected("no row"))
    }

    /// Starts a run, unless it is withdrawn before it is sent.
    pub(super) async fn start_unless(
        &self,
        run: &NewRun,
        is_withdrawn: impl Fn() -> bool + Send + Sync,
    ) -> Result<Option<Started>, BackendError> {
        let statement = || (!is_withdrawn()).then(|| statement(START, run));
        match self.engine.ask_if_wanted(Lane::Client, statement).await {
            Ok(rows) => rows.map(|rows| self.note_start(run, &rows[0])).transpose(),
            Err(error) => Err(self.why_not_started(run, error).await),
        }
    }

    /// What became of a start, told to those who wait for it.
    pub(super) fn note_start(&self, run: &NewRun, row: &PgRow) -> Result<Started, BackendError> {
        let flow: &str = row.try_get("flow_slug").map_err(translate)?;
        let started = started(row)?;
        let flow = self.flows_of_runs.learn(run.id, flow);
        if started == Started::Created {
            self.bell.ring(&flow);
        }
        Ok(started)
    }

    async fn why_not_started(&self, run: &NewRun, error: sqlx::Error) -> BackendError {
        // One that was just taken: the database, not the core, refuses it.
        if is_about(&error, "runs_pkey")
            && problem(&error).is_none()
            && let Some(found) =
                self.read_statuses(&[run.id]).await.ok().and_then(|mut it| it.pop())
        {
            return BackendError::OtherFlow { run: run.id, flow: found.flow };
        }
        why_not_started(run, error)
    }
}

/// Starts a run in the transaction that is open on this connection.
pub fn start_in(connection: &mut PgConnection, run: NewRun) -> Reply<'_, Started> {
    Box::pin(async move {
        check_transaction(connection)?;
        match statement(START_IN, &run).fetch_one(connection).await {
            Ok(row) => started(&row),
            Err(error) => Err(why_not_started(&run, error)),
        }
    })
}

fn started(row: &PgRow) -> Result<Started, BackendError> {
    let created: bool = row.try_get("created").map_err(translate)?;
    Ok(if created { Started::Created } else { Started::Existing })
}

pub(super) fn why_not_started(run: &NewRun, error: sqlx::Error) -> BackendError {
    if is_about(&error, "runs_flow_slug_fkey") {
        return BackendError::UnknownFlow { flow: run.flow.clone() };
    }
    if is_about(&error, "flow_versions_pkey")
        && let Some(program) = &run.compiled_for
    {
        return BackendError::unknown_version(&run.flow, program);
    }
    let input = |source| BackendError::Payload { what: "the run's input".to_owned(), source };
    match problem(&error) {
        Some(Problem::OtherFlow { flow }) => BackendError::OtherFlow { run: run.id, flow },
        Some(Problem::NotAnArray) => {
            BackendError::NotAnArray { flow: run.flow.clone(), found: type_name(&run.input) }
        }
        Some(Problem::TooLarge { bytes, limit }) => input(PayloadError::TooLarge { bytes, limit }),
        Some(Problem::TooDeep { limit }) => {
            input(PayloadError::TooDeep { path: "$".to_owned(), limit })
        }
        Some(Problem::TooWide { elements, limit }) => {
            input(PayloadError::TooWide { elements, limit })
        }
        None if code(&error).as_deref() == Some("22P05") => {
            check_payload(&run.input, &any()).map_or_else(input, |()| translate(error))
        }
        // The others are of schedules and signals.
        None
        | Some(
            Problem::BeginsInThePast { .. }
            | Problem::ScheduleTaken { .. }
            | Problem::TooManySignals { .. },
        ) => translate(error),
    }
}

/// No limits, to find only what can never be stored.
fn any() -> Limits {
    Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_fanout: usize::MAX }
}
