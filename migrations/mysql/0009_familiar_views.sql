-- Runs, steps, events, hooks, streams and jobs under the names that users of "SQL World" know, for dashboards and ad-hoc SQL: see
-- docs/sql-world.md. Nothing of the engine reads them. Ids are texts, and moments are of UTC.

create or replace view workflow_runs as
select
  lower(insert(insert(insert(insert(hex(r.id), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  f.name as workflow_name,
  f.slug as workflow_version,
  r.status,
  d.input,
  -- It is put together from outputs of tasks.
  null as output,
  coalesce(r.cancel_reason, (
    select s.error from pgflow_steps s where s.run = r.id and s.status = 'failed' limit 1)) as error,
  timestampadd(microsecond, r.started_at, cast('1970-01-01' as datetime(6))) as created_at,
  timestampadd(microsecond, r.ended_at, cast('1970-01-01' as datetime(6))) as ended_at
from pgflow_runs r
join pgflow_flows f on f.id = r.flow
left join pgflow_run_data d on d.run = r.id;

create or replace view workflow_steps as
select
  lower(insert(insert(insert(insert(hex(s.run), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  json_unquote(json_extract(f.shape, concat('$.steps[', s.step, '].slug'))) as step_name,
  s.status,
  -- That of a map is put together from outputs of tasks.
  case when s.status = 'completed' and s.tasks = 1 then (
    select t.output from pgflow_tasks t where t.run = s.run and t.step = s.step and t.task_index = 0) end as output,
  s.error,
  s.tasks,
  s.remaining_tasks,
  timestampadd(microsecond, r.started_at, cast('1970-01-01' as datetime(6))) as created_at,
  timestampadd(microsecond, s.started_at, cast('1970-01-01' as datetime(6))) as started_at,
  timestampadd(microsecond, s.ended_at, cast('1970-01-01' as datetime(6))) as ended_at
from pgflow_steps s
join pgflow_runs r on r.id = s.run
join pgflow_flows f on f.id = r.flow;

create or replace view workflow_events as
select
  lower(insert(insert(insert(insert(hex(e.run), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  e.seq,
  json_unquote(json_extract(e.entry, '$.event')) as event_type,
  json_unquote(json_extract(f.shape, concat('$.steps[', json_extract(e.entry, '$.step'), '].slug'))) as step_name,
  e.entry as payload,
  timestampadd(microsecond, e.at, cast('1970-01-01' as datetime(6))) as created_at
from pgflow_events e
join pgflow_runs r on r.id = e.run
join pgflow_flows f on f.id = r.flow;

-- Tokens that somebody waits for an answer to.
create or replace view workflow_hooks as
select
  cast(w.token as char character set utf8mb4) as token,
  lower(insert(insert(insert(insert(hex(w.run), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) as run_id,
  cast(w.step as char character set utf8mb4) as step_name,
  w.task_index,
  w.attempt,
  timestampadd(microsecond, w.since, cast('1970-01-01' as datetime(6))) as created_at,
  timestampadd(microsecond, w.until_at, cast('1970-01-01' as datetime(6))) as expires_at
from pgflow_waits w
where w.kind = 'hook';

create or replace view workflow_stream_chunks as
select
  cast(s.name as char character set utf8mb4) as stream_name,
  case when s.run <> unhex('00000000000000000000000000000000') then lower(insert(insert(insert(insert(hex(s.run), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')) end as run_id,
  s.task_index,
  c.number,
  c.generation,
  c.data
from pgflow_stream_chunks c
join pgflow_streams s on s.id = c.stream;

create or replace view workflow_jobs as
select
  cast(id as char character set utf8mb4) as job_id, cast(need as char character set utf8mb4) as need, state as status,
  payload, null as output, error, attempts, timestampadd(microsecond, created_at, cast('1970-01-01' as datetime(6))) as created_at, null as ended_at
from pgflow_jobs
union all
select
  cast(id as char character set utf8mb4), cast(need as char character set utf8mb4), outcome,
  payload, output, error, attempts, timestampadd(microsecond, created_at, cast('1970-01-01' as datetime(6))), timestampadd(microsecond, ended_at, cast('1970-01-01' as datetime(6)))
from pgflow_job_archive;
