-- When the steps of a run began and ended, in step order.
create or replace function pgflow.get_step_times(run_id uuid)
returns table (step_slug text, started_at timestamptz, ended_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select s.step_slug, s.started_at, coalesce(s.completed_at, s.failed_at, s.skipped_at)
      from pgflow.step_states s
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
     where s.run_id = get_step_times.run_id
     order by d.step_index;
end;
$$;
