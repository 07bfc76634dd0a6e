-- Whether notifications are on.
create or replace function pgwf.is_notify_enabled() returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select s.notify from pgflow.job_settings s);
end;
$$;
