-- Skips a step and all that depends on it, with the messages of their tasks; returns how many.
create or replace function pgflow._cascade_force_skip_steps(run_id uuid, step_slug text, skip_reason text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_skipped int;
begin
  -- Map steps that run are locked before their run: see complete_tasks.
  perform from pgflow.step_states s
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    where s.run_id = _cascade_force_skip_steps.run_id and s.status = 'started' and d.step_type = 'map'
    order by s.step_slug for no key update of s;
  perform from pgflow.runs r where r.run_id = _cascade_force_skip_steps.run_id for no key update;
  if not found then
    raise exception 'Run not found: %', _cascade_force_skip_steps.run_id;
  end if;
  v_skipped := pgflow._skip_with_dependents(
    _cascade_force_skip_steps.run_id, _cascade_force_skip_steps.step_slug, _cascade_force_skip_steps.skip_reason);
  perform pgflow._archive_dead_messages(array[_cascade_force_skip_steps.run_id]);
  return v_skipped;
end;
$$;
