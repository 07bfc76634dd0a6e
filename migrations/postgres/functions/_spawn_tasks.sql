-- Sends a message for each task and stores the tasks with their message ids.
create or replace function pgflow._spawn_tasks(
  flow_slug text,
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  elements jsonb[],
  delay int
) returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into pgflow.step_tasks (flow_slug, run_id, step_slug, task_index, input, message_id)
  select _spawn_tasks.flow_slug, t.*
    from rows from (
      unnest(run_ids), unnest(step_slugs), unnest(task_indexes), unnest(elements),
      pgmq.send_batch(
        _spawn_tasks.flow_slug,
        array(
          select jsonb_build_object('flow_slug', _spawn_tasks.flow_slug, 'run_id', m.run_id,
                                    'step_slug', m.step_slug, 'task_index', m.task_index)
            from unnest(run_ids, step_slugs, task_indexes) m(run_id, step_slug, task_index)
        ),
        null::jsonb[],
        clock_timestamp() + make_interval(secs => _spawn_tasks.delay)
      )
    ) t(run_id, step_slug, task_index, input, message_id);
end;
$$;
