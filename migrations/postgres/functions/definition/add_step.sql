-- Adds a step after those it depends on, or returns the one there is, unchanged.
create or replace function pgflow.add_step(
  flow_slug text,
  step_slug text,
  deps_slugs text[] default '{}',
  max_attempts int default null,
  base_delay int default null,
  timeout int default null,
  start_delay int default null,
  step_type text default 'single',
  required_input_pattern jsonb default null,
  forbidden_input_pattern jsonb default null,
  when_unmet text default 'skip',
  when_exhausted text default 'fail',
  wait_timeout int default null
) returns pgflow.steps
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type text := coalesce(add_step.step_type, 'single');
  v_deps text[] := coalesce(add_step.deps_slugs, '{}');
  v_step pgflow.steps;
begin
  if v_type = 'map' and cardinality(v_deps) > 1 then
    raise exception 'Map step "%" can have at most one dependency, but % were provided: %',
      add_step.step_slug, cardinality(v_deps), array_to_string(v_deps, ', ');
  end if;

  perform pgflow._check_payload(add_step.required_input_pattern, 'the required input pattern');
  perform pgflow._check_payload(add_step.forbidden_input_pattern, 'the forbidden input pattern');

  -- One adder at a time, so that step_index stays dense. A missing flow is the insert's to report.
  perform pgflow._lock_flow(add_step.flow_slug, true);

  select * into v_step from pgflow.steps s
   where s.flow_slug = add_step.flow_slug and s.step_slug = add_step.step_slug;
  if found then
    perform pgflow._assert_same_deps(add_step.flow_slug, add_step.step_slug, v_deps);
    return v_step;
  end if;

  insert into pgflow.steps (
    flow_slug, step_slug, step_type, step_index, deps_count,
    opt_max_attempts, opt_base_delay, opt_timeout, opt_start_delay, opt_wait_timeout,
    required_input_pattern, forbidden_input_pattern, when_unmet, when_exhausted
  )
  select
    add_step.flow_slug, add_step.step_slug, v_type, coalesce(max(s.step_index) + 1, 0), cardinality(v_deps),
    add_step.max_attempts, add_step.base_delay, add_step.timeout, add_step.start_delay, add_step.wait_timeout,
    add_step.required_input_pattern, add_step.forbidden_input_pattern, add_step.when_unmet, add_step.when_exhausted
  from pgflow.steps s where s.flow_slug = add_step.flow_slug
  returning * into v_step;

  insert into pgflow.deps (flow_slug, dep_slug, step_slug)
  select add_step.flow_slug, d.slug, add_step.step_slug from unnest(v_deps) d(slug);
  if v_type = 'map' then
    update pgflow.steps s set feeds_map = true
     where s.flow_slug = add_step.flow_slug and s.step_slug = any (v_deps);
  end if;
  return v_step;
end;
$$;
