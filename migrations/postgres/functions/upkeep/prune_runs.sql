-- Deletes up to `max_runs` runs that ended before `retention` ago, with everything of theirs, and returns how many: a
-- short transaction, to be called until it returns none. With the last of them, archived messages and workers of that age
-- go too. Never touches a live run, and waits for nobody: what somebody holds a lock on stays until the next call.
create or replace function pgflow.prune_runs(retention interval, max_runs int default 100) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_cutoff timestamptz := now() - prune_runs.retention;
  v_ended uuid[];
  v_pruned bigint;
begin
  perform pgflow._check_retention(prune_runs.retention);
  if coalesce(prune_runs.max_runs, 0) < 1 then
    raise exception 'At least one run must be asked for, not %', coalesce(prune_runs.max_runs::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  -- Whatever ended before the cutoff also started before it: the index on each flow's starts finds it.
  v_ended := array(
    select r.run_id
      from pgflow.flows f
      cross join lateral (
        select r.run_id from pgflow.runs r
         where r.flow_slug = f.flow_slug and r.started_at < v_cutoff
           and coalesce(r.completed_at, r.failed_at, r.cancelled_at) < v_cutoff
           and not (coalesce(r.is_child, false) and pgflow._is_read_later(r.run_id))
         order by r.started_at limit prune_runs.max_runs for update of r skip locked
      ) r
     limit prune_runs.max_runs
  );
  v_pruned := coalesce((select p.runs from pgflow._prune_runs(v_ended, v_cutoff) p), 0);
  if cardinality(v_ended) < prune_runs.max_runs then
    perform pgflow._delete_archived_messages(v_cutoff), pgflow._prune_workers(v_cutoff);
  end if;
  return v_pruned;
end;
$$;
