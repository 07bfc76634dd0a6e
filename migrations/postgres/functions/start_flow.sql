-- Starts a run, in the caller's transaction: it exists if and only if that commits.
create or replace function pgflow.start_flow(flow_slug text, input jsonb, run_id uuid default null)
returns setof pgflow.runs
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_flow text := pgflow.current_flow(start_flow.flow_slug);
  v_run_id uuid := coalesce(start_flow.run_id, pgflow._time_ordered_uuid());
  v_steps int;
  v_has_root_map boolean;
  v_has_root_condition boolean;
  v_elements int;
  v_roots text[];
begin
  select
    count(*),
    coalesce(bool_or(s.deps_count = 0 and s.step_type = 'map'), false),
    coalesce(bool_or(s.deps_count = 0
      and num_nonnulls(s.required_input_pattern, s.forbidden_input_pattern) > 0), false)
  into v_steps, v_has_root_map, v_has_root_condition
  from pgflow.steps s where s.flow_slug = v_flow;

  if v_has_root_map then
    v_elements := pgflow._count_root_elements(v_flow, start_flow.input);
  end if;
  perform pgflow._check_payload(start_flow.input, 'the run''s input');

  insert into pgflow.runs (run_id, flow_slug, input, remaining_steps, record_events)
  values (v_run_id, v_flow, start_flow.input, v_steps, coalesce(
    (select f.record_events from pgflow.flows f where f.flow_slug = v_flow), true));

  -- Without conditions or an empty root map, root steps are born started: no row is written twice.
  if not v_has_root_condition and v_elements is distinct from 0 then
    v_roots := array(
      select s.step_slug from pgflow.steps s
       where s.flow_slug = v_flow and s.deps_count = 0 order by s.step_index
    );
  end if;
  perform pgflow._create_step_states(v_run_id, v_flow, v_elements, coalesce(v_roots, '{}'));
  perform pgflow._record_events(
    array_fill(v_run_id, array[coalesce(cardinality(v_roots), 0) + 1]),
    'run:started'::text || array(select 'step:started ' || k from unnest(v_roots) k)
  );
  if v_roots is null or v_steps = 0 then
    perform pgflow._advance(array[v_run_id]);
  else
    perform pgflow._start_steps(array_fill(v_run_id, array[cardinality(v_roots)]), v_roots);
  end if;
  return query select r.* from pgflow.runs r where r.run_id = v_run_id;
end;
$$;
