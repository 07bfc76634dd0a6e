-- Starts a run of this very version of a flow. The caller has pinned the plans.
create or replace function pgflow._start_version(flow_slug text, input jsonb, run_id uuid)
returns setof pgflow.runs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_flow text := _start_version.flow_slug;
  v_run_id uuid := coalesce(_start_version.run_id, pgflow._time_ordered_uuid());
  v_elements int := case when jsonb_typeof(_start_version.input) = 'array' then jsonb_array_length(_start_version.input) end;
  v_plan record;
  v_runs uuid[];
begin
  perform pgflow._check_payload(_start_version.input, 'the run''s input');
  if _start_version.input is null then
    perform pgflow._refuse_null_for_root_map(v_flow);
  end if;
  -- Rows and plan come from one statement: a definition that changes meanwhile is seen by both or none.
  select * into v_plan from pgflow._insert_run(v_run_id, v_flow, _start_version.input, v_elements);
  if v_plan.has_root_map then
    perform pgflow._check_root_elements(v_flow, _start_version.input, v_elements);
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
