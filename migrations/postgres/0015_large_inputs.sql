-- How much the tasks of a map put out together, as text or as `jsonb`, whichever is more: so that a claim knows what
-- it would hand out without reading it. Not known of other steps, nor of maps in runs that had ended before.
alter table pgflow.step_states add column output_bytes bigint;
update pgflow.step_states s
   set output_bytes = (
         select sum(greatest(octet_length(t.output::text), pg_column_size(t.output #> '{}')))
           from pgflow.step_tasks t where t.run_id = s.run_id and t.step_slug = s.step_slug)
  from pgflow.runs r, pgflow.steps d
 where r.run_id = s.run_id and r.status = 'started' and s.output is not null
   and d.flow_slug = s.flow_slug and d.step_slug = s.step_slug and d.step_type = 'map';

-- Whether a worker takes the outputs of dependencies by name where they are large, and fetches them.
alter table pgflow.workers add column fetches_outputs boolean not null default false;

-- Functions that get other parameters or results than they had.
drop function if exists pgflow._check_worker(uuid);
drop function if exists pgflow._map_output(uuid, text);
drop function if exists pgflow._start_lone(pgflow.step_task_record, uuid);
drop function if exists pgflow._flows_with_queues();
