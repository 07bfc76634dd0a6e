-- Ends a step one of whose tasks has no attempt left, as its when_exhausted says. The caller holds
-- the step's and the run's lock and archives messages.
create or replace function pgflow._exhaust_step(run_id uuid, step_slug text, error_message text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_mode text;
begin
  select d.when_exhausted into v_mode
    from pgflow.step_states s
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
   where s.run_id = _exhaust_step.run_id and s.step_slug = _exhaust_step.step_slug;

  if v_mode = 'fail' then
    perform pgflow._fail_step(_exhaust_step.run_id, _exhaust_step.step_slug, _exhaust_step.error_message);
    return;
  end if;
  -- An empty message keeps the event's keys apart from those of a skipped condition.
  perform pgflow._skip_steps(_exhaust_step.run_id, array[_exhaust_step.step_slug], 'handler_failed',
                             coalesce(_exhaust_step.error_message, ''));
  if v_mode = 'skip' then
    perform pgflow._release_dependents(_exhaust_step.run_id, array[_exhaust_step.step_slug]);
  else
    perform pgflow._skip_with_dependents(_exhaust_step.run_id, _exhaust_step.step_slug, 'handler_failed');
  end if;
  perform pgflow._advance(array[_exhaust_step.run_id]);
end;
$$;
