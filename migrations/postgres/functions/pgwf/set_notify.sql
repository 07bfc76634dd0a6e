-- Switches notifications on or off, for the whole database.
create or replace function pgwf.set_notify(enabled boolean) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if enabled is null then
    raise exception 'enabled flag cannot be NULL';
  end if;
  perform pgflow.set_job_settings(notify => enabled);
  return enabled;
end;
$$;
