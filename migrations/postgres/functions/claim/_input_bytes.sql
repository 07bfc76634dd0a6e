-- How much a task is given, as text or as `jsonb`, whichever is more.
create or replace function pgflow._input_bytes(run_id uuid, step_slug text, task_index int) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select case when d.step_type = 'map' then greatest(octet_length(t.input::text), pg_column_size(t.input #> '{}'))
        else greatest(octet_length(r.input::text), pg_column_size(r.input #> '{}')) + coalesce((
          select sum(case when p.output_bytes is not null then p.output_bytes
                       else greatest(octet_length(p.output::text), pg_column_size(p.output #> '{}')) end)
            from pgflow.deps e
            join pgflow.step_states p on p.run_id = t.run_id and p.step_slug = e.dep_slug
           where e.flow_slug = d.flow_slug and e.step_slug = d.step_slug and p.status = 'completed'), 0)
        end
      from pgflow.step_tasks t
      join pgflow.runs r on r.run_id = t.run_id
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
     where t.run_id = _input_bytes.run_id and t.step_slug = _input_bytes.step_slug and t.task_index = _input_bytes.task_index
  );
end;
$$;
