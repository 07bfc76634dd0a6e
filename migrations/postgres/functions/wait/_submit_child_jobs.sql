-- Submits jobs that somebody waits for, and returns their ids. A job that is there is waited for as it is.
create or replace function pgflow._submit_child_jobs(children jsonb, run_id uuid) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids text[] := pgflow._submit_forks(children, format('run %s', _submit_child_jobs.run_id));
begin
  perform from pgflow.jobs j where j.id = any (v_ids) order by j.id for no key update;
  update pgflow.jobs j set is_child = true where j.id = any (v_ids);
  return v_ids;
end;
$$;
