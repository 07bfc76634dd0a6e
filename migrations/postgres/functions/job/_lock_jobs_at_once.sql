-- Locks jobs, if nobody holds one of them; otherwise false, and nothing is locked.
create or replace function pgflow._lock_jobs_at_once(p_ids text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from pgflow.jobs j where j.id = any (p_ids) order by j.id for update nowait;
  perform set_config('pgflow.holds_jobs', 'on', true);
  return true;
exception when lock_not_available then
  return false;
end;
$$;
