-- How many runs prune_runs could delete, counted up to `max_runs`.
create or replace function pgflow.count_prunable_runs(retention interval, max_runs bigint) returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_cutoff timestamptz := now() - count_prunable_runs.retention;
begin
  return (
    select count(*) from (
      select from pgflow.flows f
        cross join lateral (
          select from pgflow.runs r
           where r.flow_slug = f.flow_slug and r.started_at < v_cutoff
             and coalesce(r.completed_at, r.failed_at, r.cancelled_at) < v_cutoff
             and not (coalesce(r.is_child, false) and pgflow._is_read_later(r.run_id))
        ) r
       limit count_prunable_runs.max_runs) found);
end;
$$;
