//! What commands decided, written with a few statements for all runs of a batch.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::{Change, Effect, Gather, NewRow, Places, Rows, RunId, RunRow, Writes};
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::{Result, broken};
use super::session::{Conn, RunRowIds, SqliteSession};
use super::spawn::Spawns;
use super::tasks::{self, drop_tasks, requeue_tasks};

const INSERT: &str = "
    insert into pgflow_runs (run_id, flow, status, remaining_steps, last_seq, started_at)
    select unhex(k.value ->> 0), k.value ->> 1, k.value ->> 2, k.value ->> 3, 0, ?2 from json_each(?1) k
    returning id, run_id";

const INSERT_DATA: &str = "
    insert into pgflow_run_data (run, input) select k.value ->> 0, k.value ->> 1 from json_each(?1) k";

/// As [`INSERT_DATA`], of one run, whose input may be long.
const INSERT_INPUT: &str = "insert into pgflow_run_data (run, input) values (?, ?)";

pub(super) const RUNS: &str = "
    update pgflow_runs
       set status = k.value ->> 1, remaining_steps = k.value ->> 2, last_seq = k.value ->> 3,
           ended_at = case when k.value ->> 1 <> 'started' then coalesce(ended_at, ?2) end
      from json_each(?1) k
     where pgflow_runs.id = k.value ->> 0";

/// Writes steps. The output of one that has just completed is put together here from those of its tasks: texts, in
/// their order, without looking into them.
pub(super) const STEPS: &str = "
    insert into pgflow_steps (
      id, slug, status, remaining_deps, tasks, remaining_tasks, first_task, skip_reason, error,
      started_at, ended_at, output
    )
    select k.value ->> 0, k.value ->> 1, k.value ->> 2, k.value ->> 3, k.value ->> 4, k.value ->> 5,
           k.value ->> 6, k.value ->> 7, k.value ->> 8,
           case when k.value ->> 2 in ('started', 'completed') then ?2 end,
           case when k.value ->> 2 in ('completed', 'failed', 'skipped') then ?2 end,
           case k.value ->> 9
             when 'empty' then '[]'
             when 'task' then (select t.output from pgflow_tasks t where t.id = k.value ->> 6)
             when 'tasks' then (
               select '[' || group_concat(t.output, ',') || ']' from (
                 select output from pgflow_tasks
                  where id >= k.value ->> 6 and id < (k.value ->> 6) + (k.value ->> 4)
                  order by id
               ) t
             )
           end
      from json_each(?1) k
     where true
        on conflict (id) do update
       set status = excluded.status, remaining_deps = excluded.remaining_deps, tasks = excluded.tasks,
           remaining_tasks = excluded.remaining_tasks, first_task = excluded.first_task,
           skip_reason = excluded.skip_reason, error = excluded.error,
           started_at = coalesce(started_at, excluded.started_at), ended_at = excluded.ended_at,
           output = excluded.output";

const EVENTS: &str = "
    insert into pgflow_events (run, seq, at, entry)
    select k.value ->> 0, k.value ->> 1, ?2, k.value ->> 2 from json_each(?1) k";

const REASON: &str = "update pgflow_runs set cancel_reason = ? where id = ?";

/// Puts together what runs output: `[run, [steps]]`.
pub(super) const OUTPUTS: &str = "
    update pgflow_run_data
       set output = (
         select '{' || group_concat(json_quote(s.slug) || ':' || coalesce(s.output, 'null'), ',') || '}'
           from (
             select p.slug, p.output
               from json_each(k.value -> 1) l cross join pgflow_steps p on p.id = l.value
              order by p.id
           ) s
       )
      from json_each(?1) k
     where pgflow_run_data.run = k.value ->> 0";

pub(super) async fn write<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &Rows,
    writes: Writes<'_>,
) -> Result<()> {
    // What is held is given up by itself.
    let Writes { started, cancelled, tasks, changes, given_up: _ } = writes;
    if !started.is_empty() {
        insert(session, rows, &started).await?;
    }
    for (run, reason) in cancelled {
        let query = sqlx::query(REASON).bind(reason).bind(session.place(run)?.id);
        query.execute(&mut *session.connection).await?;
    }
    tasks::write(session, &tasks).await?;
    if changes.is_empty() {
        return Ok(());
    }
    let spawns = Spawns::plan(session, &changes).await?;
    changed(session, rows, &changes).await?;
    effects(session, rows, &changes, spawns).await
}

async fn insert<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &Rows,
    started: &[NewRow<'_>],
) -> Result<()> {
    let run = |new: &NewRow<'_>| {
        let RunRow { version, state } = &rows.runs[&new.run];
        let name = new.run.0.simple().to_string();
        json!([name, version.id, state.status, state.remaining_steps])
    };
    let runs: Value = started.iter().map(run).collect();
    let query = sqlx::query_as(INSERT).bind(runs.to_string()).bind(session.now.micros());
    let ids: Vec<(i64, Uuid)> = query.fetch_all(&mut *session.connection).await?;
    for (id, run) in ids {
        let run = RunId(run);
        let first_tasks = vec![None; rows.runs[&run].state.steps.len()];
        session.ids.insert(run, id);
        session.places.insert(run, RunRowIds { id, last_seq: 0, first_tasks });
    }
    if let [new] = started {
        let query = sqlx::query(INSERT_INPUT).bind(session.place(new.run)?.id);
        query.bind(new.input.to_string()).execute(&mut *session.connection).await?;
        return Ok(());
    }
    let mut data = Vec::with_capacity(started.len());
    for new in started {
        data.push(json!([session.place(new.run)?.id, new.input.to_string()]));
    }
    let query = sqlx::query(INSERT_DATA).bind(Value::Array(data).to_string());
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Rows of runs and steps, and entries of logs.
async fn changed<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &Rows,
    changes: &BTreeMap<RunId, Change>,
) -> Result<()> {
    let (mut runs, mut steps, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for (id, change) in changes {
        let row = &rows.runs[id];
        let place =
            session.places.get_mut(id).ok_or_else(|| broken(format!("run {id} is gone")))?;
        for entry in &change.log {
            place.last_seq += 1;
            let text = serde_json::to_string(entry).map_err(broken)?;
            events.push(json!([place.id, place.last_seq, text]));
        }
        if change.run || !change.log.is_empty() {
            let state = &row.state;
            runs.push(json!([place.id, state.status, state.remaining_steps, place.last_seq]));
        }
        steps.extend(change.steps.iter().map(|step| step_row(row, place, *step)));
    }
    for (sql, rows) in [(RUNS, runs), (STEPS, steps), (EVENTS, events)] {
        if !rows.is_empty() {
            let query = sqlx::query(sql).bind(Value::Array(rows).to_string());
            query.bind(session.now.micros()).execute(&mut *session.connection).await?;
        }
    }
    Ok(())
}

fn step_row(run: &RunRow, place: &RunRowIds, step: usize) -> Value {
    let (state, plan) = (&run.state.steps[step], run.version.plan.step(step));
    let output = state.gathers(plan).map(|gather| match gather {
        Gather::Nothing => "empty",
        Gather::Task => "task",
        Gather::Tasks => "tasks",
    });
    json!([
        place.step_id(step),
        &*plan.slug,
        state.status,
        state.remaining_deps,
        state.initial_tasks,
        state.remaining_tasks,
        place.first_tasks[step],
        state.skip_reason,
        state.error,
        output,
    ])
}

async fn effects<C: Conn>(
    session: &mut SqliteSession<C>,
    rows: &Rows,
    changes: &BTreeMap<RunId, Change>,
    mut spawns: Spawns,
) -> Result<()> {
    let mut outputs = Vec::new();
    let SqliteSession { connection, places, now, .. } = session;
    for (id, change) in changes {
        let row = &rows.runs[id];
        let place = places.get(id).ok_or_else(|| broken(format!("run {id} is gone")))?;
        let steps = &row.state.steps;
        for effect in &change.effects {
            match effect {
                Effect::Spawn { step, tasks, from, delay } => {
                    let spawn = (*step, *tasks, *from, Places::new(*now, *delay));
                    spawns.spawn(connection, &row.version, place, spawn).await?;
                }
                Effect::DropStep { step } => {
                    spawns.flush(connection).await?;
                    drop_tasks(connection, place, *step, &steps[*step]).await?;
                }
                Effect::DropRun => {
                    spawns.flush(connection).await?;
                    for (step, state) in steps.iter().enumerate() {
                        drop_tasks(connection, place, step, state).await?;
                    }
                }
                Effect::Requeue { steps: open } => {
                    for step in open {
                        let ready = Places::new(*now, Duration::ZERO);
                        requeue_tasks(connection, place, *step, &steps[*step], ready).await?;
                    }
                }
                Effect::Output { leaves } => {
                    let leaves: Vec<_> = leaves.iter().map(|step| place.step_id(*step)).collect();
                    outputs.push(json!([place.id, leaves]));
                }
            }
        }
    }
    spawns.flush(connection).await?;
    if !outputs.is_empty() {
        let query = sqlx::query(OUTPUTS).bind(json!(outputs).to_string());
        query.execute(&mut **connection).await?;
    }
    Ok(())
}
