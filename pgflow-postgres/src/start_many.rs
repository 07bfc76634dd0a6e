//! Starts that come together: one statement and one commit for many.

use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use super::engine::{Lane, Statement};
use super::error::{is_locked, translate};
use super::open::Postgres;
use super::start::{interface, versions};
use pgflow_backend::backend::{BackendError, Begins, NewRun, Started};
use pgflow_backend::gathering::{Answer, Asked, Gathering};
use pgflow_backend::weight::is_small;

/// Starts that wait for their turn.
pub(super) type Starts = Gathering<NewRun, Outcome>;
type Outcome = Result<Started, BackendError>;

/// Each start is a subtransaction, and with more than 64 of them in one transaction Postgres becomes slow for
/// everybody.
const MOST: usize = 50;

/// Nobody is waited for for long, as in a single start.
const START: &str = "
  with patience as materialized (select set_config('lock_timeout', '1000', true) as ms)
  select u.position, s.flow_slug, s.created
    from patience p
    cross join unnest($1::text[], $2::jsonb[], $3::uuid[], $4::text[], $5::text[], $6::int[])
      with ordinality as u (flow, input, id, versions, interface, position, n)
    cross join lateral pgflow.start_run(
      u.flow, u.input, case when p.ms is not null then u.id end, u.versions::int[], u.interface) s
   order by u.n";

impl Postgres {
    /// Starts a run, with others that are started at the same time.
    pub(super) async fn start_gathered(&self, run: NewRun) -> Outcome {
        // An array is probably for a map: others are not to wait for its tasks, nor for something big.
        if run.input.is_array() || !is_small(&run.input) || run.begins != Begins::Now {
            return self.start_run(&run).await;
        }
        self.starts.send(run, MOST, |runs| self.start_runs(runs)).await
    }

    /// Starts runs; an answer for each, in their order. What nobody wants any more is not sent.
    async fn start_runs(&self, runs: Vec<Asked<NewRun>>) -> Vec<Outcome> {
        if let [run] = &runs[..] {
            return vec![self.start_if_wanted(run).await];
        }
        let rows = match self.start_batch(&runs).await {
            Ok(rows) => rows,
            // One of them has to wait: the others need not.
            Err(error) if is_locked(&error) => return self.one_by_one(&runs).await,
            Err(error) => match translate(error) {
                error if error.is_temporary() => {
                    return runs.iter().map(|_| Err(error.for_others())).collect();
                }
                // One of them is at fault: each is told about its own.
                _ => return self.one_by_one(&runs).await,
            },
        };
        let mut outcomes: Vec<Outcome> = runs.iter().map(|_| Err(withdrawn())).collect();
        for row in &rows {
            let position: i32 = row.get("position");
            let position = position.unsigned_abs() as usize;
            outcomes[position] = self.note_start(runs[position].item(), row);
        }
        outcomes
    }

    async fn start_batch(&self, runs: &[Asked<NewRun>]) -> Result<Vec<PgRow>, sqlx::Error> {
        let rows = self.engine.ask_if_wanted(Lane::Client, || statement(runs)).await?;
        Ok(rows.unwrap_or_default())
    }

    async fn start_if_wanted(&self, run: &Asked<NewRun>) -> Outcome {
        let started = self.start_unless(run.item(), || run.wanted().is_none()).await?;
        started.ok_or_else(withdrawn)
    }

    async fn one_by_one(&self, runs: &[Asked<NewRun>]) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = Vec::new();
        for run in runs {
            // When nobody answers there is no use in waiting once per run.
            outcomes.push(match outcomes.last().and_then(Outcome::for_others) {
                Some(outcome) => outcome,
                None => self.start_if_wanted(run).await,
            });
        }
        outcomes
    }
}

/// Starts those that somebody still waits for, if there are any.
fn statement(runs: &[Asked<NewRun>]) -> Option<Statement<'_>> {
    let wanted = (0..).zip(runs).filter_map(|(at, run)| Some((at, run.wanted()?)));
    let mut wanted: Vec<(i32, &NewRun)> = wanted.collect();
    if wanted.is_empty() {
        return None;
    }
    // Whoever starts the same runs elsewhere does it in the same order, so nobody waits in a circle.
    wanted.sort_by_key(|(_, run)| run.id);
    let runs = || wanted.iter().map(|(_, run)| *run);
    let flows: Vec<&str> = runs().map(|run| &*run.flow).collect();
    let inputs: Vec<Json<&Value>> = runs().map(|run| Json(&run.input)).collect();
    let ids: Vec<Uuid> = runs().map(|run| run.id.0).collect();
    let programs: Vec<Option<String>> =
        runs().map(|run| versions(run).as_deref().map(array)).collect();
    let interfaces: Vec<Option<&str>> = runs().map(interface).collect();
    let positions: Vec<i32> = wanted.iter().map(|(at, _)| *at).collect();
    let statement = sqlx::query(START).bind(flows).bind(inputs).bind(ids);
    Some(statement.bind(programs).bind(interfaces).bind(positions))
}

/// Nobody gets to see this.
fn withdrawn() -> BackendError {
    BackendError::Refused("nobody waits for this start any more".into())
}

/// An array as a text: arrays of arrays of different lengths do not exist.
fn array(numbers: &[i32]) -> String {
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}
