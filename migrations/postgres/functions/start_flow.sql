-- Starts a run, in the caller's transaction: it exists if and only if that commits.
create or replace function pgflow.start_flow(flow_slug text, input jsonb, run_id uuid default null)
returns setof pgflow.runs
language plpgsql security definer
set search_path = pg_catalog, pg_temp
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
  v_elements int := case when jsonb_typeof(start_flow.input) = 'array' then jsonb_array_length(start_flow.input) end;
  v_plan record;
  v_runs uuid[];
begin
  perform pgflow._check_payload(start_flow.input, 'the run''s input');
  if start_flow.input is null then
    perform pgflow._refuse_null_for_root_map(v_flow);
  end if;
  -- Rows and plan come from one statement: a definition that changes meanwhile is seen by both or none.
  select * into v_plan from pgflow._insert_run(v_run_id, v_flow, start_flow.input, v_elements);
  if v_plan.has_root_map then
    perform pgflow._check_root_elements(v_flow, start_flow.input, v_elements);
  end if;

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
  return next v_plan.run;
end;
$$;
