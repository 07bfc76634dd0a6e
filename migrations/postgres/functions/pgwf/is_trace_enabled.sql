-- Whether the trace is on.
create or replace function pgwf.is_trace_enabled() returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select s.trace from pgflow.job_settings s);
end;
$$;
