-- A run's output: what its completed leaves put out; null if there are none.
create or replace function pgflow._run_output(run_id uuid, flow_slug text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_object_agg(s.step_slug, s.output)
      from pgflow.step_states s
     where s.run_id = _run_output.run_id and s.status = 'completed'
       and not exists (
         select from pgflow.deps e where e.flow_slug = _run_output.flow_slug and e.dep_slug = s.step_slug
       )
  );
end;
$$;
