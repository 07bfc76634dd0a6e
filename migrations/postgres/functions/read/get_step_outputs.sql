-- What the tasks of a completed step put out, from `first_index` on and by index: as many as make up
-- `max_bytes`, and one at least while there are any. For a map these are the elements of the step's
-- output, for a single step it is the output. As text, so that each is written down once.
create or replace function pgflow.get_step_outputs(
  run_id uuid, step_slug text, first_index int default 0, max_bytes int default 4194304
) returns table (task_index int, output text)
language plpgsql stable security definer
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
  v_task record;
  v_bytes bigint := 0;
begin
  for v_task in
    select t.task_index, t.output
      from pgflow.step_states s
      join pgflow.step_tasks t on t.run_id = s.run_id and t.step_slug = s.step_slug
     where s.run_id = get_step_outputs.run_id and s.step_slug = get_step_outputs.step_slug
       and s.status = 'completed' and t.task_index >= get_step_outputs.first_index
     order by t.task_index
  loop
    task_index := v_task.task_index;
    output := coalesce(v_task.output::text, 'null');
    v_bytes := v_bytes + length(output);
    return next;
    exit when v_bytes >= get_step_outputs.max_bytes;
  end loop;
end;
$$;
