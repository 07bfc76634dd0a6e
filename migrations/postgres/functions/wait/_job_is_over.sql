-- A job has ended that tasks wait for.
create or replace function pgflow._job_is_over() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  perform pgflow._note_end('job', old.id);
  return null;
end;
$$;
