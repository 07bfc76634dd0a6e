-- As _lock_jobs, where the transaction may have jobs already: then it waits for no others. False, and nothing is locked, if somebody
-- holds one of these.
create or replace function pgflow._lock_more_jobs(p_ids text[], p_kind text default 'job') returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('pgflow.holds_jobs', true) = 'on'
    and not pgflow._lock_jobs_at_once(pgflow._concerned_jobs(p_ids, p_kind)) then
    return false;
  end if;
  perform pgflow._lock_jobs(p_ids, p_kind);
  return true;
end;
$$;
