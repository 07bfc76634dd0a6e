-- A run and the state of its steps, as one JSON value; null if there is no such run.
create or replace function pgflow.get_run_with_states(run_id uuid) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'run', to_jsonb(r.*),
    'steps', coalesce(
      (select to_jsonb(array_agg(to_jsonb(s.*))) from pgflow.step_states s where s.run_id = r.run_id), '[]')
  )
  from pgflow.runs r where r.run_id = get_run_with_states.run_id
$$;
