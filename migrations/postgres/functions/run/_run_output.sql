-- A run's output: what its completed leaves put out; null if there are none. Steps that were added to the
-- flow after the run's start are not part of its graph.
create or replace function pgflow._run_output(run_id uuid, flow_slug text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select pgflow._object_of(array_agg(s.step_slug), array_agg(s.output))
      from pgflow.step_states s
     where s.run_id = _run_output.run_id and s.status = 'completed'
       and not exists (
         select from pgflow.deps e
           join pgflow.step_states d on d.run_id = s.run_id and d.step_slug = e.step_slug
          where e.flow_slug = _run_output.flow_slug and e.dep_slug = s.step_slug
       )
  );
end;
$$;
