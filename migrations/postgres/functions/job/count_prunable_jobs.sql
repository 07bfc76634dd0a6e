-- How many jobs prune_jobs could delete, counted up to `max_jobs`.
create or replace function pgflow.count_prunable_jobs(retention interval, max_jobs bigint) returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_cutoff timestamptz := now() - count_prunable_jobs.retention;
begin
  return (
    select count(*) from (
      select from pgflow.job_archive a
       where a.archived_at < v_cutoff
         and not exists (select from pgflow.awaited w where w.child = a.id and w.kind = 'job' and w.abandoned is null)
       limit count_prunable_jobs.max_jobs) found);
end;
$$;
