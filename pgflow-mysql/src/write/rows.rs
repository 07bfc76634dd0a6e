//! Rows of runs and steps, and their logs.

use std::collections::{BTreeMap, HashSet};
use std::ops::DerefMut;

use pgflow_machine::{
    Change, Effect, NewRow, Rows, RunId, RunRow, RunStatus, SkipReason, StepState, StepStatus,
};
use serde::Serialize;
use sqlx::MySqlConnection;

use super::tasks::Outputs;
use crate::error::{Result, broken};
use crate::json_rows::Hex;
use crate::session::MySqlSession;

/// The columns of a parameter with rows of runs.
macro_rules! runs {
    () => {
        "json_table(?, '$[*]' columns (
           run char(32) path '$.run', flow bigint path '$.flow',
           status varchar(16) character set utf8mb4 path '$.status', remaining_steps int path '$.remaining_steps',
           last_seq bigint path '$.last_seq', has_ended int path '$.has_ended',
           output_steps longtext character set utf8mb4 path '$.output_steps')) k"
    };
}

/// The columns of a parameter with rows of steps.
macro_rules! steps {
    () => {
        "json_table(?, '$[*]' columns (
           run char(32) path '$.run', step int path '$.step',
           status varchar(16) character set utf8mb4 path '$.status', remaining_deps int path '$.remaining_deps',
           tasks int path '$.tasks', remaining_tasks int path '$.remaining_tasks',
           skip_reason varchar(64) character set utf8mb4 path '$.skip_reason',
           error longtext character set utf8mb4 path '$.error', output_bytes bigint path '$.output_bytes')) k"
    };
}

const INSERT_RUNS: &str = concat!(
    "insert into pgflow_runs (id, flow, status, remaining_steps, last_seq, started_at, ended_at, output_steps)
     select unhex(k.run), k.flow, k.status, k.remaining_steps, k.last_seq, ?, case k.has_ended when 1 then ? end,
            k.output_steps
       from ",
    runs!()
);

const INSERT_DATA: &str = "
    insert into pgflow_run_data (run, input_bytes, input)
    select unhex(k.run), octet_length(k.input), k.input
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', input longtext character set utf8mb4 path '$.input')) k";

const UPDATE_RUNS: &str = concat!(
    "update ",
    runs!(),
    " straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)
        set r.status = k.status, r.remaining_steps = k.remaining_steps, r.last_seq = k.last_seq,
            r.ended_at = case k.has_ended when 1 then coalesce(r.ended_at, ?) end,
            r.output_steps = coalesce(k.output_steps, r.output_steps)"
);

const INSERT_STEPS: &str = concat!(
    "insert into pgflow_steps (run, step, status, remaining_deps, tasks, remaining_tasks, skip_reason, error,
                               output_bytes, started_at, ended_at)
     select unhex(k.run), k.step, k.status, k.remaining_deps, k.tasks, k.remaining_tasks, k.skip_reason, k.error,
            k.output_bytes, case when k.status in ('started', 'completed') then ? end,
            case when k.status in ('completed', 'failed', 'skipped') then ? end
       from ",
    steps!()
);

const UPDATE_STEPS: &str = concat!(
    "update ",
    steps!(),
    " straight_join pgflow_steps s force index (primary) on s.run = unhex(k.run) and s.step = k.step
        set s.status = k.status, s.remaining_deps = k.remaining_deps, s.tasks = k.tasks,
            s.remaining_tasks = k.remaining_tasks, s.skip_reason = k.skip_reason, s.error = k.error,
            s.output_bytes = coalesce(s.output_bytes + k.output_bytes, k.output_bytes, s.output_bytes),
            s.started_at = coalesce(s.started_at, case when k.status in ('started', 'completed') then ? end),
            s.ended_at = case when k.status in ('completed', 'failed', 'skipped') then ? end"
);

const EVENTS: &str = "
    insert into pgflow_events (run, seq, at, entry)
    select unhex(k.run), k.seq, ?, k.entry
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', seq bigint path '$.seq',
             entry longtext character set utf8mb4 path '$.entry')) k";

const REASON: &str = "update pgflow_runs set cancel_reason = ? where id = ?";

#[derive(Serialize)]
struct RunData {
    run: Hex,
    flow: i64,
    status: RunStatus,
    remaining_steps: u32,
    last_seq: i64,
    has_ended: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_steps: Option<String>,
}

#[derive(Serialize)]
struct StepData<'r> {
    run: Hex,
    step: usize,
    status: StepStatus,
    remaining_deps: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_tasks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_reason: Option<SkipReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<usize>,
}

#[derive(Serialize)]
struct Event {
    run: Hex,
    seq: i64,
    entry: String,
}

#[derive(Serialize)]
struct Data {
    run: Hex,
    input: String,
}

/// Rows of runs and steps to insert and to update, and events.
#[derive(Default)]
pub(super) struct Written<'r> {
    new_runs: Vec<RunData>,
    new_steps: Vec<StepData<'r>>,
    runs: Vec<RunData>,
    steps: Vec<StepData<'r>>,
    events: Vec<Event>,
}

impl<'r> Written<'r> {
    pub(super) fn new<C>(
        session: &mut MySqlSession<C>,
        rows: &'r Rows,
        started: &[NewRow<'_>],
        changes: &BTreeMap<RunId, Change>,
        outputs: &Outputs,
    ) -> Result<Self> {
        let started: HashSet<RunId> = started.iter().map(|new| new.run).collect();
        let mut written = Self::default();
        for (id, change) in changes {
            let row = rows.runs.get(id).ok_or_else(|| broken("a run is gone"))?;
            let last_seq = session.last_seqs.entry(*id).or_default();
            for entry in &change.log {
                *last_seq += 1;
                let entry = serde_json::to_string(entry).map_err(broken)?;
                written.events.push(Event { run: Hex(*id), seq: *last_seq, entry });
            }
            let run = run(*id, row, change, *last_seq)?;
            let step = |step: usize| {
                let bytes = outputs.get(&(*id, step)).copied();
                self::step(*id, step, &row.state.steps[step], bytes)
            };
            if started.contains(id) {
                written.new_runs.push(run);
                written.new_steps.extend((0..row.state.steps.len()).map(step));
                continue;
            }
            if change.run || !change.log.is_empty() {
                written.runs.push(run);
            }
            written.steps.extend(change.steps.iter().copied().map(step));
        }
        Ok(written)
    }

    pub(super) async fn write<C: DerefMut<Target = MySqlConnection>>(
        self,
        session: &mut MySqlSession<C>,
        started: &[NewRow<'_>],
    ) -> Result<()> {
        let now = session.now.micros();
        let data = |new: &NewRow<'_>| Data { run: Hex(new.run), input: new.input.to_string() };
        let data: Vec<_> = started.iter().map(data).collect();
        for part in session.json_parts(&data)? {
            sqlx::query(INSERT_DATA).bind(part).execute(session.connection()).await?;
        }
        for part in session.json_parts(&self.new_runs)? {
            let query = sqlx::query(INSERT_RUNS).bind(now).bind(now);
            query.bind(part).execute(session.connection()).await?;
        }
        for part in session.json_parts(&self.new_steps)? {
            let query = sqlx::query(INSERT_STEPS).bind(now).bind(now);
            query.bind(part).execute(session.connection()).await?;
        }
        for part in session.json_parts(&self.runs)? {
            let query = sqlx::query(UPDATE_RUNS).bind(part).bind(now);
            query.execute(session.connection()).await?;
        }
        for part in session.json_parts(&self.steps)? {
            let query = sqlx::query(UPDATE_STEPS).bind(part);
            query.bind(now).bind(now).execute(session.connection()).await?;
        }
        for part in session.json_parts(&self.events)? {
            let query = sqlx::query(EVENTS).bind(now).bind(part);
            query.execute(session.connection()).await?;
        }
        Ok(())
    }
}

fn run(id: RunId, row: &RunRow, change: &Change, last_seq: i64) -> Result<RunData> {
    let leaves = change.effects.iter().find_map(|effect| match effect {
        Effect::Output { leaves } => Some(leaves),
        _ => None,
    });
    Ok(RunData {
        run: Hex(id),
        flow: row.version.id,
        status: row.state.status,
        remaining_steps: row.state.remaining_steps,
        last_seq,
        has_ended: row.state.status.has_ended().into(),
        output_steps: leaves.map(serde_json::to_string).transpose().map_err(broken)?,
    })
}

fn step(id: RunId, step: usize, state: &StepState, output_bytes: Option<usize>) -> StepData<'_> {
    StepData {
        run: Hex(id),
        step,
        status: state.status,
        remaining_deps: state.remaining_deps,
        tasks: state.initial_tasks,
        remaining_tasks: state.remaining_tasks,
        skip_reason: state.skip_reason,
        error: state.error.as_deref(),
        output_bytes,
    }
}

/// Why a run was cancelled.
pub(super) async fn set_reason<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    run: RunId,
    reason: Option<&str>,
) -> Result<()> {
    sqlx::query(REASON).bind(reason).bind(run.0).execute(session.connection()).await?;
    Ok(())
}
