-- Runs, steps, events, hooks, streams and jobs under the names that users of "SQL World" know, for dashboards and ad-hoc SQL: see
-- docs/sql-world.md. Nothing of the engine reads them. Ids are texts, and moments are texts in UTC.

create view workflow_runs as
select
  lower(substr(hex(r.run_id), 1, 8) || '-' || substr(hex(r.run_id), 9, 4) || '-' || substr(hex(r.run_id), 13, 4) || '-'
        || substr(hex(r.run_id), 17, 4) || '-' || substr(hex(r.run_id), 21)) as run_id,
  f.name as workflow_name,
  f.slug as workflow_version,
  r.status,
  d.input,
  d.output,
  coalesce(r.cancel_reason, (
    select s.error from pgflow_steps s where s.id >= r.id << 16 and s.id < (r.id + 1) << 16 and s.status = 'failed' limit 1)) as error,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at / 1000000.0, 'unixepoch') as created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.ended_at / 1000000.0, 'unixepoch') as ended_at
from pgflow_runs r
join pgflow_flows f on f.id = r.flow
left join pgflow_run_data d on d.run = r.id;

create view workflow_steps as
select
  lower(substr(hex(r.run_id), 1, 8) || '-' || substr(hex(r.run_id), 9, 4) || '-' || substr(hex(r.run_id), 13, 4) || '-'
        || substr(hex(r.run_id), 17, 4) || '-' || substr(hex(r.run_id), 21)) as run_id,
  s.slug as step_name,
  s.status,
  s.output,
  s.error,
  s.tasks,
  s.remaining_tasks,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at / 1000000.0, 'unixepoch') as created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.started_at / 1000000.0, 'unixepoch') as started_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.ended_at / 1000000.0, 'unixepoch') as ended_at
from pgflow_runs r
join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16;

create view workflow_events as
select
  lower(substr(hex(r.run_id), 1, 8) || '-' || substr(hex(r.run_id), 9, 4) || '-' || substr(hex(r.run_id), 13, 4) || '-'
        || substr(hex(r.run_id), 17, 4) || '-' || substr(hex(r.run_id), 21)) as run_id,
  e.seq,
  e.entry ->> 'event' as event_type,
  (select s.slug from pgflow_steps s where s.id = (r.id << 16) + (e.entry ->> 'step')) as step_name,
  e.entry as payload,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch') as created_at
from pgflow_events e
join pgflow_runs r on r.id = e.run;

-- Tokens that somebody waits for an answer to.
create view workflow_hooks as
select
  w.token,
  lower(substr(hex(w.run_id), 1, 8) || '-' || substr(hex(w.run_id), 9, 4) || '-' || substr(hex(w.run_id), 13, 4) || '-'
        || substr(hex(w.run_id), 17, 4) || '-' || substr(hex(w.run_id), 21)) as run_id,
  w.step as step_name,
  w.task_index,
  w.attempt,
  strftime('%Y-%m-%dT%H:%M:%fZ', w.since / 1000000.0, 'unixepoch') as created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', w.until / 1000000.0, 'unixepoch') as expires_at
from pgflow_waits w
where w.kind = 'hook';

create view workflow_stream_chunks as
select
  s.name as stream_name,
  iif(s.run_id = zeroblob(16), null,
      lower(substr(hex(s.run_id), 1, 8) || '-' || substr(hex(s.run_id), 9, 4) || '-' || substr(hex(s.run_id), 13, 4) || '-'
            || substr(hex(s.run_id), 17, 4) || '-' || substr(hex(s.run_id), 21))) as run_id,
  s.task_index,
  c.number,
  c.generation,
  c.data
from pgflow_stream_chunks c
join pgflow_streams s on s.id = c.stream;

create view workflow_jobs as
select
  id as job_id, need, state as status, payload, null as output, error, attempts,
  strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000000.0, 'unixepoch') as created_at,
  null as ended_at
from pgflow_jobs
union all
select
  id, need, outcome, payload, output, error, attempts,
  strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000000.0, 'unixepoch'),
  strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1000000.0, 'unixepoch')
from pgflow_job_archive;
