//! What runs were given and what steps put out.
//!
//! An output is kept once, with its task: that of a step is put together when it is read, and so is that of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::DerefMut;

use pgflow_machine::{Payload, RunId};
use serde_json::{Map, Value};
use sqlx::MySqlConnection;
use uuid::Uuid;

use crate::error::{Result, broken};
use crate::json_rows::{Hex, StepRow, json_rows};
use crate::session::MySqlSession;

const INPUTS: &str = "
    select d.run, d.input
      from json_table(?, '$[*]' columns (run char(32) path '$')) k
      straight_join pgflow_run_data d force index (primary) on d.run = unhex(k.run)";

/// Outputs of the tasks of completed steps; of one without tasks a row without an index.
const OUTPUTS: &str = "
    select r.id, r.flow, s.step, t.task_index, t.output
      from json_table(?, '$[*]' columns (run char(32) path '$.run', step int path '$.step')) k
      straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)
      straight_join pgflow_steps s force index (primary) on s.run = r.id and s.step = k.step and s.status = 'completed'
      left join pgflow_tasks t on t.run = s.run and t.step = s.step";

/// Of which steps runs put out what they put out.
const OUTPUT_STEPS: &str = "
    select r.id, r.flow, r.output_steps
      from json_table(?, '$[*]' columns (run char(32) path '$')) k
      straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run) and r.output_steps is not null";

const MAP_OUTPUTS: &str = "
    select t.run, t.step, t.task_index, t.output
      from json_table(?, '$[*]' columns (run char(32) path '$.run', step int path '$.step')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step and t.status = 'completed'";

/// Some of the outputs of a step's tasks.
const PAGE: &str = "
    select t.output from pgflow_tasks t
     where t.run = ? and t.step = ? and t.task_index >= ? order by t.task_index limit ?";

const INPUT_WEIGHT: &str = "select d.input_bytes from pgflow_run_data d where d.run = ?";

const OUTPUT_WEIGHTS: &str = "
    select s.step, s.output_bytes from pgflow_steps s
     where s.run = ? and s.status = 'completed' and s.output_bytes is not null";

/// Bytes that steps have put out, or their tasks so far.
const WEIGHTS: &str = "
    select s.run, s.step, s.output_bytes
      from json_table(?, '$[*]' columns (run char(32) path '$.run', step int path '$.step')) k
      straight_join pgflow_steps s force index (primary) on s.run = unhex(k.run) and s.step = k.step
     where s.output_bytes is not null";

const IS_COMPLETED: &str = "
    select r.flow, s.step from pgflow_runs r
      join pgflow_steps s on s.run = r.id and s.status = 'completed'
     where r.id = ?";

/// Outputs that one page has at most.
const PAGE_ROWS: u32 = 1_000;

/// A row of [`OUTPUTS`].
type OutputColumns = (Uuid, i64, u16, Option<u32>, Option<String>);

/// Payloads of runs.
pub(crate) type Payloads = HashMap<(RunId, Payload), Value>;

pub(crate) async fn payloads<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    wanted: &[(RunId, Payload)],
) -> Result<Payloads> {
    let mut found = Payloads::new();
    let of = |kind: Payload| {
        let runs = wanted.iter().filter(move |(_, payload)| *payload == kind);
        runs.map(|(run, _)| *run).collect::<BTreeSet<_>>()
    };
    let (inputs, run_outputs) = (of(Payload::RunInput), of(Payload::RunOutput));
    if !inputs.is_empty() {
        for (run, input) in load_inputs(session, &inputs).await? {
            found.insert((run, Payload::RunInput), input);
        }
    }
    let steps = wanted.iter().filter_map(|(run, payload)| match payload {
        Payload::StepOutput(step) => Some((*run, *step)),
        _ => None,
    });
    let steps: BTreeSet<_> = steps.collect();
    if !steps.is_empty() {
        for ((run, step), output) in step_outputs(session, &steps).await? {
            found.insert((run, Payload::StepOutput(step)), output);
        }
    }
    if !run_outputs.is_empty() {
        for (run, output) in load_run_outputs(session, &run_outputs).await? {
            found.insert((run, Payload::RunOutput), output);
        }
    }
    Ok(found)
}

/// How many bytes the payloads of a run have. Its output is some of those of its steps, and counts as all of them.
pub(crate) async fn weights<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
) -> Result<HashMap<Payload, usize>> {
    let query = sqlx::query_scalar(INPUT_WEIGHT).bind(run.0);
    let input: Option<i64> = query.fetch_optional(session.connection()).await?;
    let query = sqlx::query_as(OUTPUT_WEIGHTS).bind(run.0);
    let steps: Vec<(u16, i64)> = query.fetch_all(session.connection()).await?;
    let all = steps.iter().fold(0_usize, |all, (_, bytes)| all.saturating_add(size(*bytes)));
    let steps =
        steps.into_iter().map(|(step, bytes)| (Payload::StepOutput(step.into()), size(bytes)));
    let run = input.map(|bytes| (Payload::RunInput, size(bytes)));
    Ok(steps.chain(run).chain([(Payload::RunOutput, all)]).collect())
}

/// How many bytes these steps have put out so far, and a little more.
pub(crate) async fn weights_of<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    steps: &[(RunId, usize)],
) -> Result<Vec<((RunId, usize), usize)>> {
    let wanted = steps.iter().map(|&(run, step)| StepRow { run: Hex(run), step });
    let query = sqlx::query_as(WEIGHTS).bind(json_rows(&wanted.collect::<Vec<_>>())?);
    let found: Vec<(Uuid, u16, i64)> = query.fetch_all(session.connection()).await?;
    Ok(found
        .into_iter()
        .map(|(run, step, bytes)| ((RunId(run), step.into()), size(bytes)))
        .collect())
}

fn size(bytes: i64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn ids(runs: &BTreeSet<RunId>) -> Result<String> {
    json_rows(&runs.iter().copied().map(Hex).collect::<Vec<_>>())
}

async fn load_inputs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    runs: &BTreeSet<RunId>,
) -> Result<Vec<(RunId, Value)>> {
    let query = sqlx::query_as(INPUTS).bind(ids(runs)?);
    let rows: Vec<(Uuid, String)> = query.fetch_all(session.connection()).await?;
    rows.into_iter().map(|(run, input)| Ok((RunId(run), parse(&input)?))).collect()
}

/// What completed steps put out.
async fn step_outputs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    steps: &BTreeSet<(RunId, usize)>,
) -> Result<HashMap<(RunId, usize), Value>> {
    let wanted = steps.iter().map(|&(run, step)| StepRow { run: Hex(run), step });
    let query = sqlx::query_as(OUTPUTS).bind(json_rows(&wanted.collect::<Vec<_>>())?);
    let rows: Vec<OutputColumns> = query.fetch_all(session.connection()).await?;
    let mut gathered: BTreeMap<(RunId, usize, i64), BTreeMap<u32, Value>> = BTreeMap::new();
    for (run, flow, step, index, output) in rows {
        let of_step = gathered.entry((RunId(run), step.into(), flow)).or_default();
        if let Some(index) = index {
            of_step.insert(index, parse(output.as_deref().unwrap_or("null"))?);
        }
    }
    let mut outputs = HashMap::new();
    for ((run, step, flow), tasks) in gathered {
        let is_map = session.version(flow)?.plan.step(step).is_map;
        let mut tasks = tasks.into_values();
        let output =
            if is_map { Value::Array(tasks.collect()) } else { tasks.next().unwrap_or_default() };
        outputs.insert((run, step), output);
    }
    Ok(outputs)
}

async fn load_run_outputs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    runs: &BTreeSet<RunId>,
) -> Result<Vec<(RunId, Value)>> {
    let query = sqlx::query_as(OUTPUT_STEPS).bind(ids(runs)?);
    let rows: Vec<(Uuid, i64, String)> = query.fetch_all(session.connection()).await?;
    let mut leaves: Vec<(RunId, i64, Vec<usize>)> = Vec::new();
    for (run, flow, steps) in rows {
        leaves.push((RunId(run), flow, serde_json::from_str(&steps).map_err(broken)?));
    }
    let steps = leaves.iter().flat_map(|(run, _, steps)| steps.iter().map(|step| (*run, *step)));
    let steps: BTreeSet<_> = steps.collect();
    let mut outputs =
        if steps.is_empty() { HashMap::new() } else { step_outputs(session, &steps).await? };
    let mut found = Vec::new();
    for (run, flow, steps) in leaves {
        let version = session.version(flow)?;
        let field = |step: usize| {
            let slug = version.plan.step(step).slug.to_string();
            (slug, outputs.remove(&(run, step)).unwrap_or_default())
        };
        let fields: Map<String, Value> = steps.into_iter().map(field).collect();
        if !fields.is_empty() {
            found.push((run, Value::Object(fields)));
        }
    }
    Ok(found)
}

/// What the completed tasks of maps put out, whether or not the maps are completed.
pub(crate) async fn map_outputs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    maps: &[(RunId, usize)],
) -> Result<HashMap<(RunId, usize), BTreeMap<u32, Value>>> {
    let wanted = maps.iter().map(|&(run, step)| StepRow { run: Hex(run), step });
    let query = sqlx::query_as(MAP_OUTPUTS).bind(json_rows(&wanted.collect::<Vec<_>>())?);
    let rows: Vec<(Uuid, u16, u32, Option<String>)> = query.fetch_all(session.connection()).await?;
    let mut found: HashMap<_, BTreeMap<u32, Value>> =
        maps.iter().map(|map| (*map, BTreeMap::new())).collect();
    for (run, step, index, output) in rows {
        let of_map = found.entry((RunId(run), step.into())).or_default();
        of_map.insert(index, parse(output.as_deref().unwrap_or("null"))?);
    }
    Ok(found)
}

/// A page of what the tasks of a completed step put out.
pub(crate) async fn outputs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    step: &str,
    first: u32,
    bytes: u32,
) -> Result<Vec<Value>> {
    let query = sqlx::query_as(IS_COMPLETED).bind(run.0);
    let completed: Vec<(i64, u16)> = query.fetch_all(session.connection()).await?;
    let Some((flow, _)) = completed.first() else { return Ok(Vec::new()) };
    let Some(number) = session.version(*flow)?.plan.index(step) else { return Ok(Vec::new()) };
    if !completed.iter().any(|(_, step)| usize::from(*step) == number) {
        return Ok(Vec::new());
    }
    let query =
        sqlx::query_scalar(PAGE).bind(run.0).bind(u64::try_from(number).unwrap_or(u64::MAX));
    let texts: Vec<Option<String>> =
        query.bind(first).bind(PAGE_ROWS.min(bytes.max(1))).fetch_all(session.connection()).await?;
    let most = usize::try_from(bytes).unwrap_or(usize::MAX);
    let (mut page, mut length) = (Vec::new(), 0);
    for text in texts {
        let text = text.unwrap_or_else(|| "null".to_owned());
        length += text.len();
        if length > most && !page.is_empty() {
            break;
        }
        page.push(parse(&text)?);
    }
    Ok(page)
}

/// A payload, as it was stored.
pub(crate) fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|why| broken(format!("a payload is not JSON: {why}")))
}
