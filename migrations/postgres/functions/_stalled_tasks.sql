-- Tasks of a flow that have stalled. They are found from the messages that somebody has taken
-- (a small index), so that neither waiting messages nor past runs cost anything. Whether their run and
-- step are still open is for the caller to see, with the locks it takes.
create or replace function pgflow._stalled_tasks(flow_slug text, grace int)
returns table (run_id uuid, step_slug text, task_index int, message_id bigint, requeued_count int, attempts_count int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_bodies jsonb[];
begin
  execute format('select array_agg(msg_id), array_agg(message) from pgmq.%I where read_ct > 0',
                 pgmq.format_table_name(_stalled_tasks.flow_slug, 'q'))
    into v_ids, v_bodies;
  return query
    select t.run_id, t.step_slug, t.task_index, t.message_id, t.requeued_count, t.attempts_count
      from pgflow._tasks_of_messages(v_ids, v_bodies) m
      join pgflow.step_tasks t
        on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index
       and t.message_id = m.msg_id
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
      join pgflow.flows f on f.flow_slug = t.flow_slug
     where t.status = 'started' and t.permanently_stalled_at is null
       and t.started_at < now() - make_interval(secs => coalesce(d.opt_timeout, f.opt_timeout)::float8 + _stalled_tasks.grace)
       and (t.lease_until is null or t.lease_until < clock_timestamp() - make_interval(secs => _stalled_tasks.grace));
end;
$$;
