-- A run that jobs wait for has ended, in whatever way, or was deleted before it could: they go on. If somebody holds one of them, and
-- this transaction holds other jobs, the sweep tells them.
create or replace function pgflow._release_waiters_of_run() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_run text := old.run_id::text;
  v_outcome text := case when tg_op = 'DELETE' then 'cancelled' when new.status = 'completed' then 'done' else new.status end;
begin
  if pgflow._lock_more_jobs(array[v_run], 'run') then
    perform pgflow._end_jobs(array[v_run], array[v_outcome], null, null, null, null, null, null, 'run');
  else
    insert into pgflow.job_wakes (kind, dependency, outcome) values ('run', v_run, v_outcome) on conflict do nothing;
  end if;
  return null;
end;
$$;
