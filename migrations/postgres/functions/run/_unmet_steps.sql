-- Ready steps of a run whose condition does not hold, in step order.
create or replace function pgflow._unmet_steps(run_id uuid) returns table (step_slug text, when_unmet text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select s.step_slug, d.when_unmet
      from pgflow.step_states s
      join pgflow.runs r on r.run_id = s.run_id
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
     where s.run_id = _unmet_steps.run_id and s.status = 'created' and s.remaining_deps = 0
       and (
         (d.required_input_pattern is not null
          and not pgflow._given_contains(s, d.deps_count, r.input, d.required_input_pattern))
         or (d.forbidden_input_pattern is not null
             and pgflow._given_contains(s, d.deps_count, r.input, d.forbidden_input_pattern))
       )
     order by d.step_index;
end;
$$;
