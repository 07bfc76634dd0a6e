-- How runs are doing, without anything of what they were given or put out: what waiting for them takes.
-- Runs that are not there are left out.
create or replace function pgflow.get_run_statuses(run_ids uuid[])
returns table (
  run_id uuid, flow_slug text, status text, started_at timestamptz, ended_at timestamptz, remaining_steps int
)
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
    select r.run_id, r.flow_slug, r.status, r.started_at,
           coalesce(r.completed_at, r.failed_at, r.cancelled_at), r.remaining_steps
      from unnest(get_run_statuses.run_ids) k(run_id)
      join pgflow.runs r on r.run_id = k.run_id;
end;
$$;
