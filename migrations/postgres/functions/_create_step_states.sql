-- A row for each step of a new run; those named in `roots` start at once.
create or replace function pgflow._create_step_states(
  run_id uuid,
  flow_slug text,
  root_elements int,
  roots text[]
) returns void
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
begin
  insert into pgflow.step_states (
    flow_slug, run_id, step_slug, remaining_deps, initial_tasks, status, started_at, remaining_tasks
  )
  select
    s.flow_slug, _create_step_states.run_id, s.step_slug, s.deps_count, planned.tasks,
    case when planned.starts then 'started' else 'created' end,
    case when planned.starts then now() end,
    case when planned.starts then planned.tasks end
  from pgflow.steps s
  cross join lateral (
    select
      case when s.step_type = 'single' then 1 when s.deps_count = 0 then root_elements end as tasks,
      s.step_slug = any (roots) as starts
  ) planned
  where s.flow_slug = _create_step_states.flow_slug
  order by s.step_index;
end;
$$;
