-- What all jobs of the database have in common; see set_job_settings.
create or replace function pgflow.get_job_settings() returns table (trace boolean, notify boolean, crash_threshold int)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select s.trace, s.notify, s.crash_threshold from pgflow.job_settings s;
end;
$$;
