-- Ends a run before it is done. Queued tasks never start; running ones learn of it at their next
-- heartbeat. A run that has ended stays as it is.
create or replace function pgflow.cancel_run(run_id uuid, reason text default null) returns setof pgflow.runs
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
  perform pgflow._cancel_runs(array[cancel_run.run_id], array[cancel_run.reason]);
  return query select r.* from pgflow.runs r where r.run_id = cancel_run.run_id;
end;
$$;
