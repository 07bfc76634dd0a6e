-- Completes the steps of a run that are ready, have no tasks, and whose condition (if any) holds.
create or replace function pgflow._complete_taskless_wave(run_id uuid) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_steps text[];
begin
  with completed as (
    update pgflow.step_states s
       set status = 'completed', started_at = greatest(now(), s.created_at), completed_at = greatest(now(), s.created_at),
           remaining_tasks = 0,
           output = case when d.step_type = 'map' then '[]'::jsonb end
      from pgflow.steps d
     where s.run_id = _complete_taskless_wave.run_id
       and s.status = 'created' and s.remaining_deps = 0 and s.initial_tasks = 0
       and d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
       and exists (select from pgflow.runs r where r.run_id = s.run_id and r.status = 'started')
       and (
         num_nonnulls(d.required_input_pattern, d.forbidden_input_pattern) = 0
         or not exists (select from pgflow._unmet_steps(s.run_id) u where u.step_slug = s.step_slug)
       )
    returning s.step_slug, d.step_index
  )
  select array_agg(step_slug order by step_index) into v_steps from completed;
  if v_steps is null then
    return 0;
  end if;

  perform pgflow._record_events(
    array_fill(_complete_taskless_wave.run_id, array[cardinality(v_steps)]),
    array(select 'step:completed ' || k from unnest(v_steps) k),
    array_fill('{"remaining_tasks": 0, "remaining_deps": 0}'::jsonb, array[cardinality(v_steps)])
  );
  perform pgflow._release_dependents(_complete_taskless_wave.run_id, v_steps);
  update pgflow.runs r set remaining_steps = r.remaining_steps - cardinality(v_steps)
   where r.run_id = _complete_taskless_wave.run_id;
  return cardinality(v_steps);
end;
$$;
