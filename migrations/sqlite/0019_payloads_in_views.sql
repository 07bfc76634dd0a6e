-- The view of 0012 again, with entries of logs that say what they are about.
drop view workflow_events;
create view workflow_events as
select
  lower(substr(hex(r.run_id), 1, 8) || '-' || substr(hex(r.run_id), 9, 4) || '-' || substr(hex(r.run_id), 13, 4) || '-'
        || substr(hex(r.run_id), 17, 4) || '-' || substr(hex(r.run_id), 21)) as run_id,
  e.seq,
  e.entry ->> 'event' as event_type,
  (select s.slug from pgflow_steps s where s.id = (r.id << 16) + (e.entry ->> 'step')) as step_name,
  case e.entry ->> 'event'
    when 'run:started' then (select json_object('input', json(d.input)) from pgflow_run_data d where d.run = r.id)
    when 'run:completed' then (select json_object('output', json(d.output)) from pgflow_run_data d where d.run = r.id)
    when 'step:completed' then (
      select json_object('output', json(s.output)) from pgflow_steps s where s.id = (r.id << 16) + (e.entry ->> 'step'))
    else json_remove(e.entry, '$.event', '$.step') end as payload,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch') as created_at
from pgflow_events e
join pgflow_runs r on r.id = e.run;
