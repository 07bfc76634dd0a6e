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
  select 'run_failure', r.run_id, format('%s, but its steps are not', r.status)
    from pgflow.runs r
   where case r.status when 'failed' then false when 'cancelled' then null else true end = exists (
     select from pgflow.step_states s where s.run_id = r.run_id and s.status = 'failed')
  union all
  select 'run_times', r.run_id, format('times do not fit status %s', r.status)
    from pgflow.runs r
   where (r.status = 'completed') <> (r.completed_at is not null)
      or (r.status = 'failed') <> (r.failed_at is not null)
      or (r.status = 'cancelled') <> (r.cancelled_at is not null)
      or greatest(r.started_at, r.completed_at, r.failed_at, r.cancelled_at) > clock_timestamp() + interval '1 day'
  union all
  -- Lists find runs that go on by what they wait for.
  select 'run_waits_for_nothing', r.run_id, 'started, but it is not listed as such'
    from pgflow.flows f
    join pgflow.runs r on r.flow_slug = f.flow_slug and r.status = 'started'
   where r.run_id not in (
     select o from pgflow._open_runs(f.flow_slug, '-infinity', 'infinity', null, 2147483647 / 4) o)
  union all
  select 'run_reason', r.run_id, format('%s, with a reason to cancel it', r.status)
    from pgflow.runs r
   where r.status <> 'cancelled' and r.cancel_reason is not null
  union all
  select 'run_output', r.run_id, 'output is not that of its leaves'
    from pgflow.runs r
   where r.output is distinct from case when r.status = 'completed' then pgflow._run_output(r.run_id, r.flow_slug) end
$$;
