-- Gives a step these options and its flow's for the rest, also for runs in flight: add_step leaves a
-- step that is there as it is.
create or replace function pgflow.set_step_options(
  flow_slug text,
  step_slug text,
  max_attempts int default null,
  base_delay int default null,
  timeout int default null,
  start_delay int default null,
  wait_timeout int default null
) returns pgflow.steps
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_step pgflow.steps;
begin
  -- The flow before its steps, as when steps are added or the flow is deleted.
  perform pgflow._lock_flow(set_step_options.flow_slug, true);
  update pgflow.steps s
     set opt_max_attempts = set_step_options.max_attempts,
         opt_base_delay = set_step_options.base_delay,
         opt_timeout = set_step_options.timeout,
         opt_start_delay = set_step_options.start_delay,
         opt_wait_timeout = set_step_options.wait_timeout
   where s.flow_slug = set_step_options.flow_slug and s.step_slug = set_step_options.step_slug
  returning s.* into v_step;
  if not found then
    raise exception 'There is no step "%" in flow "%"', set_step_options.step_slug,
      set_step_options.flow_slug using errcode = 'no_data_found';
  end if;
  return v_step;
end;
$$;
