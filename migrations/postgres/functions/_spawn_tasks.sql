-- Sends a message for the one task of each single step and stores the tasks with their message ids.
create or replace function pgflow._spawn_tasks(flow_slug text, run_ids uuid[], step_slugs text[], delay int)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into pgflow.step_tasks (flow_slug, run_id, step_slug, message_id)
  select _spawn_tasks.flow_slug, t.*
    from rows from (
      unnest(run_ids), unnest(step_slugs),
      pgmq.send_batch(
        _spawn_tasks.flow_slug,
        array(
          select jsonb_build_object('flow_slug', _spawn_tasks.flow_slug, 'run_id', m.run_id,
                                    'step_slug', m.step_slug, 'task_index', 0)
            from unnest(run_ids, step_slugs) m(run_id, step_slug)
        ),
        null::jsonb[],
        clock_timestamp() + make_interval(secs => _spawn_tasks.delay)
      )
    ) t(run_id, step_slug, message_id);
end;
$$;
