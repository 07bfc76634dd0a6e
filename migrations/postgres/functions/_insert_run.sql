-- The rows of a new run: itself, its steps (those named in `roots` started), its first events.
create or replace function pgflow._insert_run(
  run_id uuid,
  flow_slug text,
  input jsonb,
  steps int,
  root_elements int,
  roots text[]
) returns pgflow.runs
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_run pgflow.runs;
begin
  with run as (
    insert into pgflow.runs (run_id, flow_slug, input, remaining_steps, record_events)
    values (_insert_run.run_id, _insert_run.flow_slug, _insert_run.input, _insert_run.steps, coalesce(
      (select f.record_events from pgflow.flows f where f.flow_slug = _insert_run.flow_slug), true))
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
    from pgflow.steps s
    cross join lateral (
      select
        case when s.step_type = 'single' then 1 when s.deps_count = 0 then root_elements end as tasks,
        coalesce(s.step_slug = any (roots), false) as starts
    ) planned
    where s.flow_slug = _insert_run.flow_slug
  ), log as (
    insert into pgflow.event_log (run_id, last_seq, events)
    select r.run_id, 1 + coalesce(cardinality(roots), 0),
           array['run:started'] || array(select 'step:started ' || k from unnest(roots) k)
      from run r where r.record_events
  )
  select * into v_run from run;
  return v_run;
end;
$$;
