//! Starts that come together: one statement and one commit for many.

use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use super::engine::Lane;
use super::error::{is_locked, translate};
use super::open::Postgres;
use crate::backend::{BackendError, NewRun, Started};
use crate::gathering::{Answer, Gathering};

/// Starts that wait for their turn.
pub(super) type Starts = Gathering<NewRun, Outcome>;
type Outcome = Result<Started, BackendError>;

/// Each start is a subtransaction, and with more than 64 of them in one transaction Postgres becomes slow for
/// everybody.
const MOST: usize = 50;

/// Bytes of an input that goes with others. All of them together are to take much less time than an answer may.
const SMALL: usize = 1 << 16;

/// Nobody is waited for for long, as in a single start.
const START: &str = "
  with patience as materialized (select set_config('lock_timeout', '1000', true) as ms)
  select s.flow_slug, s.created
    from patience p
    cross join unnest($1::text[], $2::jsonb[], $3::uuid[]) with ordinality as u (flow, input, id, n)
    cross join lateral pgflow.start_run(u.flow, u.input, case when p.ms is not null then u.id end) s
   order by u.n";

impl Postgres {
    /// Starts a run, with others that are started at the same time.
    pub(super) async fn start_gathered(&self, run: NewRun) -> Outcome {
        // An array is probably for a map: others are not to wait for its tasks, nor for something big.
        if run.input.is_array() || !is_small(&run.input) {
            return self.start_run(&run).await;
        }
        self.starts.send(run, MOST, |runs| self.start_runs(runs)).await
    }

    /// Starts runs; an answer for each, in their order.
    async fn start_runs(&self, runs: Vec<NewRun>) -> Vec<Outcome> {
        if let [run] = &runs[..] {
            return vec![self.start_run(run).await];
        }
        let mut sorted: Vec<usize> = (0..runs.len()).collect();
        // Whoever starts the same runs elsewhere does it in the same order, so nobody waits in a circle.
        sorted.sort_by_key(|at| runs[*at].id);
        let rows = match self.start_batch(&runs, &sorted).await {
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
        let mut outcomes: Vec<_> = sorted.iter().zip(&rows).collect();
        outcomes.sort_by_key(|(at, _)| **at);
        outcomes.into_iter().map(|(at, row)| self.note_start(&runs[*at], row)).collect()
    }

    async fn start_batch(
        &self,
        runs: &[NewRun],
        order: &[usize],
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let ordered = || order.iter().map(|at| &runs[*at]);
        let flows: Vec<&str> = ordered().map(|run| &*run.flow).collect();
        let inputs: Vec<Json<&Value>> = ordered().map(|run| Json(&run.input)).collect();
        let ids: Vec<Uuid> = ordered().map(|run| run.id.0).collect();
        let statement = || sqlx::query(START).bind(&flows).bind(&inputs).bind(&ids);
        self.engine.ask(Lane::Client, statement).await
    }

    async fn one_by_one(&self, runs: &[NewRun]) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = Vec::new();
        for run in runs {
            // When nobody answers there is no use in waiting once per run.
            outcomes.push(match outcomes.last().and_then(Outcome::for_others) {
                Some(outcome) => outcome,
                None => self.start_run(run).await,
            });
        }
        outcomes
    }
}

/// About, and without writing it down.
fn is_small(input: &Value) -> bool {
    left_of(SMALL, input).is_some()
}

fn left_of(bytes: usize, value: &Value) -> Option<usize> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => bytes.checked_sub(4),
        Value::String(text) => bytes.checked_sub(text.len() + 2),
        Value::Array(items) => items.iter().try_fold(bytes.checked_sub(2)?, left_of),
        Value::Object(entries) => {
            entries.iter().try_fold(bytes.checked_sub(2)?, |bytes, (key, value)| {
                left_of(bytes.checked_sub(key.len() + 4)?, value)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_big_is_big_in_any_form() {
        let text = "x".repeat(SMALL);
        let many: Vec<u8> = vec![0; SMALL];
        for big in [json!(text), json!({ "in": { "text": text } }), json!({ "in": [many] })] {
            assert!(!is_small(&big));
        }
        let half = &text[..SMALL / 2];
        assert!(!is_small(&json!({ "one": half, "two": half })));
        assert!(is_small(&json!({ "one": half, "two": [1, 2.5, null, true] })));
        let keys: serde_json::Map<_, _> =
            (0..100).map(|n| (format!("{n}{}", "k".repeat(SMALL / 100)), json!(1))).collect();
        assert!(!is_small(&Value::Object(keys)));
    }
}
