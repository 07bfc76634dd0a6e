-- The rows of a new run: itself, its steps, its first events. Root steps are born started, so that no
-- row is written twice, unless one of them has a condition or maps over nothing: then `roots` is null
-- and the run still has to be moved on.
create or replace function pgflow._insert_run(
  run_id uuid,
  flow_slug text,
  input jsonb,
  elements int,
  out run pgflow.runs,
  out roots text[],
  out has_root_map boolean,
  out is_plain boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_record_events boolean;
  v_result record;
begin
  -- Before its steps are looked at: if the flow is just being replaced, those are wanted that come.
  loop
    select f.record_events into v_record_events from pgflow.flows f
     where f.flow_slug = _insert_run.flow_slug for key share;
    -- As in _lock_flow: one that was replaced while it was waited for is another row now.
    exit when found or not exists (select from pgflow.flows f where f.flow_slug = _insert_run.flow_slug);
  end loop;
  with plan as materialized (
    select
      count(*)::int as steps,
      coalesce(bool_or(s.step_type = 'map') filter (where s.deps_count = 0), false) as has_root_map,
      bool_and(s.step_type = 'single' and s.opt_start_delay is null) filter (where s.deps_count = 0) as is_plain,
      case when bool_and(
          num_nonnulls(s.required_input_pattern, s.forbidden_input_pattern) = 0
          and (s.step_type = 'single' or coalesce(_insert_run.elements, 0) > 0)
        ) filter (where s.deps_count = 0)
        then array_agg(s.step_slug order by s.step_index) filter (where s.deps_count = 0) end as roots
    from pgflow.steps s where s.flow_slug = _insert_run.flow_slug
  ), run as (
    insert into pgflow.runs (run_id, flow_slug, input, remaining_steps, record_events)
    select _insert_run.run_id, _insert_run.flow_slug, _insert_run.input, p.steps, coalesce(v_record_events, true)
      from plan p
    returning *
  ), states as (
    insert into pgflow.step_states (
      flow_slug, run_id, step_slug, remaining_deps, initial_tasks, status, started_at, remaining_tasks
    )
    select
      s.flow_slug, _insert_run.run_id, s.step_slug, s.deps_count, planned.tasks,
      case when planned.starts then 'started' else 'created' end,
      case when planned.starts then now() end,
      case when planned.starts then planned.tasks end
    from plan p
    cross join pgflow.steps s
    cross join lateral (
      select
        case when s.step_type = 'single' then 1 when s.deps_count = 0 then _insert_run.elements end as tasks,
        s.deps_count = 0 and p.roots is not null as starts
    ) planned
    where s.flow_slug = _insert_run.flow_slug
  ), log as (
    insert into pgflow.event_log (run_id, last_seq, events)
    select r.run_id, 1 + coalesce(cardinality(p.roots), 0),
           array['run:started'] || array(select 'step:started ' || k from unnest(p.roots) k)
      from run r cross join plan p where r.record_events
  )
  select r as run, p.roots, p.has_root_map, p.is_plain into v_result from run r cross join plan p;
  run := v_result.run;
  roots := v_result.roots;
  has_root_map := v_result.has_root_map;
  is_plain := v_result.is_plain;
end;
$$;
