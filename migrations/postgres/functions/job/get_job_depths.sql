-- All live jobs by need and state: count_jobs says more.
create or replace function pgflow.get_job_depths()
returns table (need text, state text, jobs bigint, first_ready_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  return query select c.need, c.state, c.jobs, c.first_ready_at from pgflow.count_jobs(null) c;
end;
$$;
