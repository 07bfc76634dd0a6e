-- Empties a database of jobs, live and archived, with their traces, for tests: what TRUNCATE does to the published tables of pgwf, which are
-- views here. Settings stay. For the owner alone.
create or replace function pgflow.reset_jobs() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Whoever waits for these is told.
  delete from pgflow.jobs j where j.is_child;
  truncate pgflow.jobs, pgflow.job_edges, pgflow.job_keys, pgflow.job_key_notes, pgflow.job_wakes, pgflow.job_archive, pgflow.job_trace,
    pgflow.job_messages, pgflow.permit_holds;
end;
$$;
