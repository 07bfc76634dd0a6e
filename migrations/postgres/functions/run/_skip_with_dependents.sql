-- Skips a step and all that depends on it, near or far. The caller holds the run's lock.
create or replace function pgflow._skip_with_dependents(run_id uuid, step_slug text, skip_reason text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_first int;
begin
  v_first := pgflow._skip_steps(
    _skip_with_dependents.run_id, array[_skip_with_dependents.step_slug], _skip_with_dependents.skip_reason, null);
  return v_first + pgflow._skip_steps(
    _skip_with_dependents.run_id,
    array(
      with recursive downstream as (
        select e.step_slug, e.flow_slug
          from pgflow.runs r
          join pgflow.deps e on e.flow_slug = r.flow_slug and e.dep_slug = _skip_with_dependents.step_slug
         where r.run_id = _skip_with_dependents.run_id
        union
        select e.step_slug, e.flow_slug
          from downstream d
          join pgflow.deps e on e.flow_slug = d.flow_slug and e.dep_slug = d.step_slug
      )
      select d.step_slug from downstream d
    ),
    'dependency_skipped', null
  );
end;
$$;
