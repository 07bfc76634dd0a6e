-- Runs, steps, events, hooks, streams and jobs under the names that users of "SQL World" know, for dashboards and ad-hoc SQL: see
-- docs/sql-world.md. Nothing of the engine reads them.

create or replace view pgflow.workflow_runs as
select
  r.run_id,
  coalesce(v.flow_name, r.flow_slug) as workflow_name,
  r.flow_slug as workflow_version,
  r.status,
  r.input,
  r.output,
  coalesce(
    r.cancel_reason,
    (select s.error_message from pgflow.step_states s where s.run_id = r.run_id and s.status = 'failed' limit 1)) as error,
  r.started_at as created_at,
  coalesce(r.completed_at, r.failed_at, r.cancelled_at) as ended_at
from pgflow.runs r
left join pgflow.flow_versions v on v.flow_slug = r.flow_slug;

create or replace view pgflow.workflow_steps as
select
  s.run_id,
  s.step_slug as step_name,
  s.status,
  s.output,
  s.error_message as error,
  s.initial_tasks as tasks,
  s.remaining_tasks,
  s.created_at,
  s.started_at,
  coalesce(s.completed_at, s.failed_at, s.skipped_at) as ended_at
from pgflow.step_states s;

create or replace view pgflow.workflow_events as
select e.run_id, e.seq, e.event_type, e.step_slug as step_name, e.payload, e.at as created_at
from pgflow.events e;

-- Tokens that somebody waits for an answer to. One that was announced is a secret: who may not signal does not see it.
create or replace view pgflow.workflow_hooks as
select
  case when not starts_with(w.token, 'hk_') or has_function_privilege('pgflow.signal(text, jsonb, text, interval)', 'execute')
    then w.token end as token,
  w.run_id, w.step_slug as step_name, w.task_index, w.attempt, w.since as created_at, w.until as expires_at
from pgflow.waits w
where w.kind = 'hook';

create or replace view pgflow.workflow_stream_chunks as
select
  s.name as stream_name,
  nullif(s.run_id, '00000000-0000-0000-0000-000000000000') as run_id,
  s.task_index,
  c.number,
  c.generation,
  c.data
from pgflow.stream_chunks c
join pgflow.streams s on s.id = c.stream;

create or replace view pgflow.workflow_jobs as
select
  j.id as job_id, j.need, j.state as status, j.payload, null::jsonb as output, j.last_error as error,
  j.attempts, j.created_at, null::timestamptz as ended_at
from pgflow.jobs j
union all
select
  a.id, a.need, a.outcome, a.payload, a.output, coalesce(a.error, a.cancel_reason),
  a.attempts, a.created_at, a.archived_at
from pgflow.job_archive a;
