-- Sets how many leases may run out in a row before a job is set aside.
create or replace function pgwf.set_crash_concern_threshold(p_threshold integer) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_threshold, 0) <= 0 then
    raise exception 'threshold must be positive';
  end if;
  perform pgflow.set_job_settings(crash_threshold => p_threshold);
  return p_threshold;
end;
$$;
