-- Starts a run, in the caller's transaction: it exists if and only if that commits.
create or replace function pgflow.start_flow(flow_slug text, input jsonb, run_id uuid default null)
returns setof pgflow.runs
language plpgsql security definer
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
  return query select * from pgflow._start_version(
    pgflow.current_flow(start_flow.flow_slug), start_flow.input, start_flow.run_id);
end;
$$;
