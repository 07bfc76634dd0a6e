-- Defines a flow from its shape. The shape lists each step after its dependencies.
create or replace function pgflow._create_flow_from_shape(p_flow_slug text, p_shape jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_options jsonb := p_shape -> 'options';
  v_step jsonb;
begin
  perform pgflow.create_flow(
    p_flow_slug,
    (v_options ->> 'maxAttempts')::int,
    (v_options ->> 'baseDelay')::int,
    (v_options ->> 'timeout')::int
  );
  for v_step in select s from jsonb_array_elements(p_shape -> 'steps') s loop
    v_options := v_step -> 'options';
    perform pgflow.add_step(
      flow_slug => p_flow_slug,
      step_slug => v_step ->> 'slug',
      deps_slugs => array(select jsonb_array_elements_text(v_step -> 'dependencies')),
      max_attempts => (v_options ->> 'maxAttempts')::int,
      base_delay => (v_options ->> 'baseDelay')::int,
      timeout => (v_options ->> 'timeout')::int,
      start_delay => (v_options ->> 'startDelay')::int,
      step_type => v_step ->> 'stepType',
      required_input_pattern => pgflow._shape_pattern(v_step -> 'requiredInputPattern'),
      forbidden_input_pattern => pgflow._shape_pattern(v_step -> 'forbiddenInputPattern'),
      when_unmet => coalesce(v_step ->> 'whenUnmet', 'skip'),
      when_exhausted => coalesce(v_step ->> 'whenExhausted', 'fail'),
      wait_timeout => (v_options ->> 'waitTimeout')::int
    );
  end loop;
end;
$$;
