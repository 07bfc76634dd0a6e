-- Takes away cancelled jobs that nobody works on, the oldest first, and returns how many.
create or replace function pgwf.archive_cancelled_jobs(p_worker_id text, p_limit integer default 100) returns integer
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
  v_archived int;
begin
  if p_worker_id is null then
    raise exception 'worker_id cannot be NULL';
  end if;
  if coalesce(p_limit, 0) <= 0 then
    raise exception 'limit must be positive';
  end if;
  -- What nobody sweeps is seen to here.
  perform pgflow._wake_again(p_limit, p_worker_id, false);
  v_archived := (select cardinality(e.ids) from pgflow._end_due(clock_timestamp(), p_limit, p_worker_id, array['cancelled']) e);
  if v_archived > 0 then
    perform pgflow._trace_jobs('swept', array['pgwf.archive_cancelled_jobs'], null, null, p_worker_id,
      array[jsonb_build_object('limit', p_limit, 'archived_jobs', v_archived)]);
  end if;
  return v_archived;
end;
$$;
