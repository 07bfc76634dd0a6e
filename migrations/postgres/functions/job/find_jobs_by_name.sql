-- Ids of up to `max_jobs` jobs, live or archived, that begin with a text, in the order of their bytes. `until` is the first text
-- after all of them; nothing if there is none.
create or replace function pgflow.find_jobs_by_name(beginning text, until text, max_jobs int) returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
begin
  return query
    select f.id::text from (
      (select j.id from pgflow.jobs j
        where j.id >= find_jobs_by_name.beginning and (find_jobs_by_name.until is null or j.id < find_jobs_by_name.until)
        order by j.id limit find_jobs_by_name.max_jobs)
      union all
      (select a.id from pgflow.job_archive a
        where a.id >= find_jobs_by_name.beginning and (find_jobs_by_name.until is null or a.id < find_jobs_by_name.until)
        order by a.id limit find_jobs_by_name.max_jobs)
    ) f order by f.id limit find_jobs_by_name.max_jobs;
end;
$$;
