-- Whether a task or a job waits for this job.
create or replace function pgflow._is_awaited(job text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
      select from pgflow.awaited a
       where a.child = _is_awaited.job and a.kind = 'job' and a.ended is null and a.abandoned is null)
    or exists (select from pgflow.job_edges e where e.dependency = _is_awaited.job and e.kind = 'job');
end;
$$;
