-- A stored flow as data: steps in order, without options.
create or replace function pgflow._get_flow_shape(p_flow_slug text) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('steps', coalesce(to_jsonb(array_agg(step.shape order by step.step_index)), '[]'))
  from (
    select
      s.step_index,
      jsonb_build_object(
        'slug', s.step_slug,
        'stepType', s.step_type,
        'dependencies', (
          select coalesce(to_jsonb(array_agg(d.dep_slug order by d.dep_slug)), '[]')
          from pgflow.deps d where d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
        ),
        'whenUnmet', s.when_unmet,
        'whenExhausted', s.when_exhausted,
        'requiredInputPattern', pgflow._pattern_shape(s.required_input_pattern),
        'forbiddenInputPattern', pgflow._pattern_shape(s.forbidden_input_pattern)
      ) as shape
    from pgflow.steps s
    where s.flow_slug = p_flow_slug
  ) step
$$;
