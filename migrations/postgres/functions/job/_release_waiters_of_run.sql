-- A run has ended, in whatever way, or was deleted before it could: jobs that wait for it go on.
create or replace function pgflow._release_waiters_of_run() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_run text := old.run_id::text;
  v_outcome text := case when tg_op = 'DELETE' then 'cancelled' when new.status = 'completed' then 'done' else new.status end;
begin
  -- Nobody waits for most; a strict transaction may not see who does.
  if current_setting('transaction_isolation') = 'read committed'
     and not exists (select from pgflow.job_edges e where e.dependency = v_run and e.kind = 'run') then
    return null;
  end if;
  perform pgflow._lock_jobs(array[v_run], 'run');
  perform pgflow._end_jobs(array[v_run], array[v_outcome], null, null, null, null, null, null, 'run');
  return null;
end;
$$;
