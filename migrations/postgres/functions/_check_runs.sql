-- Runs: their counters, their end, their output.
create or replace function pgflow._check_runs() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'run_counter', r.run_id,
         format('remaining_steps is %s, but %s steps are open', r.remaining_steps, open.steps)
    from pgflow.runs r
    cross join lateral (
      select count(*) as steps from pgflow.step_states s
       where s.run_id = r.run_id and s.status not in ('completed', 'skipped')
    ) open
   where r.remaining_steps <> open.steps
  union all
  select 'run_completion', r.run_id, format('status is %s with %s steps to go', r.status, r.remaining_steps)
    from pgflow.runs r
   where r.status in ('started', 'completed') and (r.status = 'completed') <> (r.remaining_steps = 0)
  union all
  select 'run_failure', r.run_id, 'failed, but no step has'
    from pgflow.runs r
   where r.status = 'failed'
     and not exists (select from pgflow.step_states s where s.run_id = r.run_id and s.status = 'failed')
  union all
  select 'run_output', r.run_id, 'output is not that of its leaves'
    from pgflow.runs r
   where r.status = 'completed' and r.output is distinct from pgflow._run_output(r.run_id, r.flow_slug)
$$;
