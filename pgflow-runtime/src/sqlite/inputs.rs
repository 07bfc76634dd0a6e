//! What claimed tasks work on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pgflow_machine::RunId;
use serde_json::{Map, Value, json};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::claim::Taken;
use super::definitions::{SPAN, Session, place, step_in};
use super::error::{Result, broken};

/// Runs of some steps, with what they were given where that is asked for: `[run, whether]`.
const RUNS: &str = "
    select r.id, r.run_id, r.flow, case when k.value ->> 1 then d.input end
      from json_each(?1) k
      cross join pgflow_runs r on r.id = k.value ->> 0
      cross join pgflow_run_data d on d.run = r.id";

/// Outputs of dependencies: `[step, its dependency]`.
const OUTPUTS: &str = "
    select k.value ->> 0, s.slug, s.output
      from json_each(?1) k cross join pgflow_steps s on s.id = k.value ->> 1
     where s.status = 'completed'";

/// A row of [`RUNS`].
type RunRow = (i64, Uuid, i64, Option<String>);

/// Inputs by step: read once per step, however many tasks of it there are.
pub(super) struct Inputs {
    runs: HashMap<i64, RunId>,
    singles: HashMap<i64, Value>,
}

impl Inputs {
    pub(super) async fn load(
        connection: &mut SqliteConnection,
        session: &Session,
        taken: &[Taken],
    ) -> Result<Self> {
        if taken.is_empty() {
            return Ok(Self { runs: HashMap::new(), singles: HashMap::new() });
        }
        // A map's tasks bring their own.
        let singles: BTreeSet<i64> =
            taken.iter().filter(|task| task.input.is_none()).map(|task| task.step).collect();
        let rows = runs(connection, taken, &singles).await?;
        let mut outputs = outputs(connection, session, &singles, &rows).await?;
        let runs = rows.iter().map(|(id, run, ..)| (*id, RunId(*run))).collect();
        let inputs: HashMap<i64, String> =
            rows.into_iter().filter_map(|(id, _, _, input)| Some((id, input?))).collect();
        let mut whole = HashMap::new();
        for step in singles {
            let input = inputs.get(&(step / SPAN)).map_or("null", |text| text);
            let mut fields = Map::from_iter([("run".to_owned(), parse(input)?)]);
            fields.extend(outputs.remove(&step).unwrap_or_default());
            whole.insert(step, Value::Object(fields));
        }
        Ok(Self { runs, singles: whole })
    }

    /// The run of a step.
    pub(super) fn run(&self, step: i64) -> Result<RunId> {
        let run = self.runs.get(&(step / SPAN)).copied();
        run.ok_or_else(|| broken(format!("step {step} has no run")))
    }

    /// The input of a task.
    pub(super) fn of(&mut self, task: &Taken) -> Result<Value> {
        match &task.input {
            Some(element) => parse(element),
            None => self
                .singles
                .remove(&task.step)
                .ok_or_else(|| broken(format!("task {} has no element", task.id))),
        }
    }
}

async fn runs(
    connection: &mut SqliteConnection,
    taken: &[Taken],
    singles: &BTreeSet<i64>,
) -> Result<Vec<RunRow>> {
    let mut wanted: BTreeMap<i64, bool> = BTreeMap::new();
    for task in taken {
        *wanted.entry(task.step / SPAN).or_default() |= singles.contains(&task.step);
    }
    let wanted: Value = wanted.into_iter().map(|(run, input)| json!([run, input])).collect();
    Ok(sqlx::query_as(RUNS).bind(wanted.to_string()).fetch_all(connection).await?)
}

async fn outputs(
    connection: &mut SqliteConnection,
    session: &Session,
    singles: &BTreeSet<i64>,
    runs: &[RunRow],
) -> Result<HashMap<i64, Map<String, Value>>> {
    let flows: HashMap<i64, i64> = runs.iter().map(|(id, _, flow, _)| (*id, *flow)).collect();
    let mut pairs = Vec::new();
    for step in singles {
        let run = step / SPAN;
        let flow = flows.get(&run).ok_or_else(|| broken(format!("step {step} has no run")))?;
        let version = session.definitions.by_id(*flow)?;
        let deps = &version.plan.step(step_in(*step)).deps;
        pairs.extend(deps.iter().map(|dep| json!([step, run * SPAN + place(*dep)])));
    }
    let mut outputs: HashMap<i64, Map<String, Value>> = HashMap::new();
    if pairs.is_empty() {
        return Ok(outputs);
    }
    let rows: Vec<(i64, String, Option<String>)> =
        sqlx::query_as(OUTPUTS).bind(json!(pairs).to_string()).fetch_all(connection).await?;
    for (step, slug, output) in rows {
        let output = parse(output.as_deref().unwrap_or("null"))?;
        outputs.entry(step).or_default().insert(slug, output);
    }
    Ok(outputs)
}

/// A payload, as it was stored.
pub(super) fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|why| broken(format!("a payload is not JSON: {why}")))
}
