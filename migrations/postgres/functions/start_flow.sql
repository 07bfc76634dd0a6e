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
  v_plan record;
  v_elements int;
  v_run pgflow.runs;
  v_runs uuid[];
begin
  select
    count(*)::int as steps,
    coalesce(bool_or(s.deps_count = 0 and s.step_type = 'map'), false) as has_root_map,
    coalesce(bool_or(s.deps_count = 0
      and num_nonnulls(s.required_input_pattern, s.forbidden_input_pattern) > 0), false) as has_root_condition,
    array_agg(s.step_slug order by s.step_index) filter (where s.deps_count = 0) as roots,
    bool_and(s.step_type = 'single' and s.opt_start_delay is null) filter (where s.deps_count = 0) as is_plain
  into v_plan
  from pgflow.steps s where s.flow_slug = v_flow;

  if v_plan.has_root_map then
    v_elements := pgflow._count_root_elements(v_flow, start_flow.input);
  end if;
  perform pgflow._check_payload(start_flow.input, 'the run''s input');

  -- Without conditions or an empty root map, root steps are born started: no row is written twice.
  if v_plan.has_root_condition or v_elements = 0 then
    v_plan.roots := null;
  end if;
  v_run := pgflow._insert_run(
    v_run_id, v_flow, start_flow.input, v_plan.steps, v_elements, v_plan.roots);
  if v_plan.roots is null then
    perform pgflow._advance(array[v_run_id]);
    return query select r.* from pgflow.runs r where r.run_id = v_run_id;
    return;
  end if;
  v_runs := array_fill(v_run_id, array[cardinality(v_plan.roots)]);
  if v_plan.is_plain then
    perform pgflow._spawn_tasks(v_flow, v_runs, v_plan.roots, 0);
  else
    perform pgflow._start_steps(v_runs, v_plan.roots);
  end if;
  return next v_run;
end;
$$;
