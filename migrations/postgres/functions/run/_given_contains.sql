-- Whether what a step is given contains a pattern: the run's input for a first step, else the outputs of its
-- completed dependencies by name. Those key by key: together they may be more than one JSON value holds.
create or replace function pgflow._given_contains(step pgflow.step_states, deps_count int, input jsonb, pattern jsonb)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if _given_contains.deps_count = 0 then
    return _given_contains.input @> _given_contains.pattern;
  end if;
  return not exists (
    select from jsonb_each(_given_contains.pattern) k
     where not exists (
       select from pgflow.deps e
         join pgflow.step_states p on p.run_id = (_given_contains.step).run_id and p.step_slug = e.dep_slug
        where e.flow_slug = (_given_contains.step).flow_slug and e.dep_slug = k.key
          and e.step_slug = (_given_contains.step).step_slug and p.status = 'completed'
          -- As values of an object: by itself, an array would contain its elements.
          and jsonb_build_object('', p.output) @> jsonb_build_object('', k.value))
  );
end;
$$;
