-- Starts every step of a run that waits for nothing and has tasks.
create or replace function pgflow.start_ready_steps(run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_steps text[];
  v_runs uuid[];
begin
  perform from pgflow.runs r
    where r.run_id = start_ready_steps.run_id and r.status = 'started' for no key update;
  if not found then
    return;
  end if;
  with started as (
    update pgflow.step_states s
       set status = 'started', started_at = greatest(now(), s.created_at), remaining_tasks = s.initial_tasks
      from pgflow.steps d
     where s.run_id = start_ready_steps.run_id
       and s.status = 'created' and s.remaining_deps = 0 and s.initial_tasks > 0
       and d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    returning s.step_slug, d.step_index
  )
  select array_agg(step_slug order by step_index) into v_steps from started;
  if v_steps is not null then
    v_runs := array_fill(start_ready_steps.run_id, array[cardinality(v_steps)]);
    perform pgflow._record_events(v_runs, array(select 'step:started ' || k from unnest(v_steps) k));
    perform pgflow._start_steps(v_runs, v_steps);
  end if;
end;
$$;
