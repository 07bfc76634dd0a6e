//! Payloads, read.

use std::collections::{BTreeSet, HashMap};

use pgflow_machine::{Payload, RunId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::definitions::{SPAN, place};
use super::error::{Result, broken};
use super::session::{Conn, SqliteSession};

const IDS: &str = "
    select r.id, r.run_id from json_each(?1) k cross join pgflow_runs r on r.run_id = unhex(k.value)";

pub(super) const INPUTS: &str = "
    select d.run, d.input from json_each(?1) k cross join pgflow_run_data d on d.run = k.value";

const RUN_OUTPUTS: &str = "
    select d.run, d.output from json_each(?1) k cross join pgflow_run_data d on d.run = k.value";

pub(super) const STEP_OUTPUTS: &str = "
    select s.id, s.output from json_each(?1) k cross join pgflow_steps s on s.id = k.value";

/// Of a run's payloads: whose they are (0: its input, 1: its output, 2 and more: a step's output), and their bytes.
pub(super) const WEIGHTS: &str = "
    select 0, octet_length(d.input) from pgflow_run_data d where d.run = ?1
    union all
    select 1, octet_length(d.output) from pgflow_run_data d where d.run = ?1
    union all
    select 2 + s.id - (?1 << 16), octet_length(s.output)
      from pgflow_steps s where s.id >= ?1 << 16 and s.id < (?1 + 1) << 16";

/// Tasks of a step, by index: a page of so many bytes, and the one that is too much. `cross join` says in which order to
/// look: anything else reads every task there is.
pub(super) const OUTPUTS: &str = "
    with task as (
      select t.task_index, t.output,
             sum(octet_length(t.output)) over (order by t.task_index) - octet_length(t.output) as before
        from pgflow_runs r
        cross join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16
        cross join pgflow_tasks t on t.id >= s.first_task + ?3 and t.id < s.first_task + min(s.tasks, ?3 + ?4)
       where r.run_id = ?1 and s.slug = ?2 and s.status = 'completed'
    )
    select output from task where before < ?5 order by task_index";

/// Of how many tasks a page may be, whatever they put out.
const PAGE_TASKS: u32 = 10_000;

/// One statement for each kind of payload that is asked for.
pub(super) async fn payloads<C: Conn>(
    session: &mut SqliteSession<C>,
    wanted: &[(RunId, Payload)],
) -> Result<HashMap<(RunId, Payload), Value>> {
    find_runs(session, wanted.iter().map(|(run, _)| *run)).await?;
    let mut rows: [HashMap<i64, (RunId, Payload)>; 3] = Default::default();
    for &(run, payload) in wanted {
        let Some(&id) = session.ids.get(&run) else { continue };
        let (kind, row) = match payload {
            Payload::RunInput => (0, id),
            Payload::RunOutput => (1, id),
            Payload::StepOutput(step) => (2, id * SPAN + place(step)),
        };
        rows[kind].insert(row, (run, payload));
    }
    let mut found = HashMap::with_capacity(wanted.len());
    for (sql, rows) in [INPUTS, RUN_OUTPUTS, STEP_OUTPUTS].into_iter().zip(rows) {
        if rows.is_empty() {
            continue;
        }
        let ids: BTreeSet<_> = rows.keys().collect();
        let query = sqlx::query_as(sql).bind(json!(ids).to_string());
        let texts: Vec<(i64, Option<String>)> = query.fetch_all(&mut *session.connection).await?;
        for (row, text) in texts {
            if let (Some(key), Some(text)) = (rows.get(&row), text) {
                found.insert(*key, parse(&text)?);
            }
        }
    }
    Ok(found)
}

/// How many bytes the payloads of a run have.
pub(super) async fn weights<C: Conn>(
    session: &mut SqliteSession<C>,
    run: RunId,
) -> Result<HashMap<Payload, usize>> {
    find_runs(session, std::iter::once(run)).await?;
    let Some(id) = session.ids.get(&run).copied() else { return Ok(HashMap::new()) };
    let query = sqlx::query_as(WEIGHTS).bind(id);
    let rows: Vec<(u32, Option<u32>)> = query.fetch_all(&mut *session.connection).await?;
    let weight = |(whose, bytes): (u32, Option<u32>)| {
        let payload = match whose {
            0 => Payload::RunInput,
            1 => Payload::RunOutput,
            step => Payload::StepOutput(step as usize - 2),
        };
        Some((payload, bytes? as usize))
    };
    Ok(rows.into_iter().filter_map(weight).collect())
}

/// Looks up the numbers of runs that were not met before.
async fn find_runs<C: Conn>(
    session: &mut SqliteSession<C>,
    runs: impl Iterator<Item = RunId>,
) -> Result<()> {
    let unknown: BTreeSet<_> = runs.filter(|run| !session.ids.contains_key(run)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = unknown.iter().map(|run| run.0.simple().to_string()).collect();
    let query = sqlx::query_as(IDS).bind(json!(names).to_string());
    let found: Vec<(i64, Uuid)> = query.fetch_all(&mut *session.connection).await?;
    session.ids.extend(found.into_iter().map(|(id, run)| (RunId(run), id)));
    Ok(())
}

pub(super) async fn outputs<C: Conn>(
    session: &mut SqliteSession<C>,
    run: RunId,
    step: &str,
    first: u32,
    bytes: u32,
) -> Result<Vec<Value>> {
    let query = sqlx::query_scalar(OUTPUTS).bind(run.0).bind(step).bind(first);
    let query = query.bind(PAGE_TASKS.min(bytes.max(1))).bind(bytes);
    let texts: Vec<String> = query.fetch_all(&mut *session.connection).await?;
    texts.iter().map(|text| parse(text)).collect()
}

/// A payload, as it was stored.
pub(super) fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|why| broken(format!("a payload is not JSON: {why}")))
}
