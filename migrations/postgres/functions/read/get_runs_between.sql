-- Runs without their payloads whose ids are in a range, by id: those that a shortened id may mean.
create or replace function pgflow.get_runs_between(first_run uuid, last_run uuid, qty int default 50)
returns table (
  run_id uuid, flow_slug text, status text, started_at timestamptz, ended_at timestamptz, remaining_steps int
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
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
      from pgflow.runs r
     where r.run_id >= get_runs_between.first_run and r.run_id <= get_runs_between.last_run
     order by r.run_id limit least(greatest(coalesce(get_runs_between.qty, 50), 0), 1000);
end;
$$;
