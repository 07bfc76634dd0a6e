//! What transitions change, written with a few statements for all runs of a batch.

use std::collections::BTreeMap;

use pgflow_machine::{Change, Effect, RunStatus, StepStatus};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::definitions::Session;
use super::error::{Result, broken};
use super::load::Run;
use super::spawn::Spawns;
use super::tasks::{drop_tasks, requeue_tasks};

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

/// Changes of any number of runs, each run once or more.
#[derive(Default)]
pub(super) struct Writes {
    changes: Vec<(i64, Change)>,
}

impl Writes {
    /// Notes what a transition of a run changed.
    pub(super) fn add(&mut self, run: &Run, change: Change) {
        self.changes.push((run.id, change));
    }

    /// Whether something happened in a run that others may be waiting for.
    pub(super) fn has_news(&self, run: &Run) -> bool {
        self.changes.iter().any(|(id, change)| *id == run.id && !change.log.is_empty())
    }

    /// Writes everything; `runs` are all that changed.
    pub(super) async fn flush<'r>(
        self,
        connection: &mut SqliteConnection,
        session: &Session,
        runs: impl Iterator<Item = &'r mut Run>,
    ) -> Result<()> {
        let mut of_run: BTreeMap<i64, Vec<Change>> = BTreeMap::new();
        for (run, change) in self.changes {
            of_run.entry(run).or_default().push(change);
        }
        let mut whole = Vec::new();
        for run in runs {
            if let Some(changes) = of_run.remove(&run.id) {
                whole.push((run, merge(changes)));
            }
        }
        if whole.is_empty() {
            return Ok(());
        }
        let spawns = Spawns::plan(connection, &mut whole).await?;
        rows(connection, session, &mut whole).await?;
        effects(connection, session, &whole, spawns).await
    }
}

/// Several changes of one run as one.
fn merge(changes: Vec<Change>) -> Change {
    let mut whole = Change::default();
    for change in changes {
        whole.run |= change.run;
        whole.steps.extend(change.steps);
        whole.effects.extend(change.effects);
        whole.log.extend(change.log);
    }
    whole
}

async fn rows(
    connection: &mut SqliteConnection,
    session: &Session,
    changed: &mut [(&mut Run, Change)],
) -> Result<()> {
    let (mut runs, mut steps, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for (run, change) in changed {
        for entry in &change.log {
            run.last_seq += 1;
            let text = serde_json::to_string(entry).map_err(broken)?;
            events.push(json!([run.id, run.last_seq, text]));
        }
        if change.run || !change.log.is_empty() {
            let state = &run.state;
            runs.push(json!([run.id, state.status, state.remaining_steps, run.last_seq]));
        }
        steps.extend(change.steps.iter().map(|step| step_row(run, *step)));
    }
    for (sql, rows) in [(RUNS, runs), (STEPS, steps), (EVENTS, events)] {
        if !rows.is_empty() {
            let query = sqlx::query(sql).bind(Value::Array(rows).to_string()).bind(session.now);
            query.execute(&mut *connection).await?;
        }
    }
    Ok(())
}

fn step_row(run: &Run, step: usize) -> Value {
    let state = &run.state.steps[step];
    let plan = run.version.plan.step(step);
    let output = match (state.status, state.initial_tasks, plan.is_map) {
        (StepStatus::Completed, Some(0), _) => Some("empty"),
        (StepStatus::Completed, _, true) => Some("tasks"),
        (StepStatus::Completed, _, false) => Some("task"),
        _ => None,
    };
    json!([
        run.step_id(step),
        &*plan.slug,
        state.status,
        state.remaining_deps,
        state.initial_tasks,
        state.remaining_tasks,
        run.first_tasks[step],
        state.skip_reason,
        state.error,
        output,
    ])
}

async fn effects(
    connection: &mut SqliteConnection,
    session: &Session,
    changed: &[(&mut Run, Change)],
    mut spawns: Spawns,
) -> Result<()> {
    let mut outputs = Vec::new();
    for (run, change) in changed {
        for effect in &change.effects {
            match effect {
                Effect::Spawn { step, tasks, from, delay } => {
                    spawns.spawn(connection, session, run, (*step, *tasks, *from, *delay)).await?;
                }
                Effect::DropStep { step } => {
                    spawns.flush(connection).await?;
                    drop_tasks(connection, run, &[*step]).await?;
                }
                Effect::DropRun => {
                    spawns.flush(connection).await?;
                    let all: Vec<_> = (0..run.first_tasks.len()).collect();
                    drop_tasks(connection, run, &all).await?;
                }
                Effect::Requeue => requeue_tasks(connection, session, run).await?,
                Effect::Output { leaves } => {
                    let leaves: Vec<_> = leaves.iter().map(|step| run.step_id(*step)).collect();
                    outputs.push(json!([run.id, leaves]));
                }
            }
        }
    }
    spawns.flush(connection).await?;
    if !outputs.is_empty() {
        sqlx::query(OUTPUTS).bind(json!(outputs).to_string()).execute(connection).await?;
    }
    Ok(())
}

/// Whether tasks of a step of this run may be claimed.
pub(super) fn is_live(run: &Run, step: usize) -> bool {
    run.state.status == RunStatus::Started && run.state.steps[step].status == StepStatus::Started
}
