-- What a run was given; null if there is no such run.
create or replace function pgflow.get_run_input(run_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select r.input from pgflow.runs r where r.run_id = get_run_input.run_id);
end;
$$;
