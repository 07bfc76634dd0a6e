-- As _lock_jobs, with their keys, if nobody holds any of that; otherwise false, and nothing is locked.
create or replace function pgflow._lock_jobs_at_once(p_ids text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_concerned text[] := pgflow._concerned_jobs(p_ids);
begin
  perform from pgflow.jobs j where j.id = any (v_concerned) order by j.id for update nowait;
  perform from pgflow.job_keys k
    where k.key = any (array(select j.key from pgflow.jobs j where j.id = any (v_concerned) and j.key is not null))
    order by k.key for update nowait;
  return true;
exception when lock_not_available then
  return false;
end;
$$;
