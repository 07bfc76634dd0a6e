-- How many live jobs each worker has, by the name that it claims with.
create or replace function pgflow.get_job_holders() returns table (worker text, jobs bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select coalesce(j.worker, ''), count(*) from pgflow.jobs j where j.state = 'leased' group by 1 order by 1;
end;
$$;
