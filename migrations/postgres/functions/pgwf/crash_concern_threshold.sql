-- How many leases may run out in a row before a job is set aside.
create or replace function pgwf.crash_concern_threshold() returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select s.crash_threshold from pgflow.job_settings s);
end;
$$;
