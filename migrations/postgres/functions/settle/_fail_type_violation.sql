-- Ends a run in which a step put out something that the map step after it cannot use.
-- The offending output is kept on the task. Returns whether that took effect, and the messages that
-- are over and that the caller archives.
create or replace function pgflow._fail_type_violation(
  run_id uuid,
  step_slug text,
  task_index int,
  output jsonb,
  attempt int,
  out applied boolean,
  out flow_slugs text[],
  out message_ids bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_violation record;
  v_task pgflow.step_tasks;
begin
  select * into v_violation from pgflow._type_violations(
    array[_fail_type_violation.run_id], array[_fail_type_violation.step_slug], array[_fail_type_violation.output]) v
   limit 1;
  update pgflow.step_tasks t
     set status = 'failed', failed_at = greatest(now(), t.started_at), output = _fail_type_violation.output,
         error_message = format('[TYPE_VIOLATION] Produced %s instead of array', v_violation.produced)
    from pgflow.runs r
   where t.run_id = _fail_type_violation.run_id and t.step_slug = _fail_type_violation.step_slug
     and t.task_index = _fail_type_violation.task_index and t.status = 'started'
     and (_fail_type_violation.attempt is null or t.attempts_count = _fail_type_violation.attempt)
     and r.run_id = t.run_id and r.status = 'started'
  returning t.* into v_task;
  applied := found;
  if not applied then
    return;
  end if;
  perform pgflow._fail_run_for_type(
    _fail_type_violation.run_id, _fail_type_violation.step_slug,
    format('[TYPE_VIOLATION] Map step %s expects array input but dependency %s produced %s',
           v_violation.map_slug, v_violation.step_slug, v_violation.produced));
  select array_agg(m.flow_slug), array_agg(m.message_id) into flow_slugs, message_ids
    from (select v_task.flow_slug, v_task.message_id
          union select * from pgflow._dead_messages(array[_fail_type_violation.run_id])) m;
end;
$$;
