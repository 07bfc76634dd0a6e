-- After failures: messages of tasks to be tried again become visible after the back-off, those of
-- tasks that are over are archived, and with them what the caller names. A task that was queued all
-- the while is pushed back as well.
create or replace function pgflow._settle_failed_messages(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_attempts int[],
  p_delays int[],
  p_applied int[],
  p_changed_runs uuid[],
  p_over_flows text[],
  p_over_ids bigint[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_delayed record;
  v_over record;
begin
  select array_agg(d.flow_slug) as flows, array_agg(d.message_id) as ids, array_agg(d.delay) as delays
    into v_delayed
    from pgflow._retry_delays(p_run_ids, p_step_slugs, p_task_indexes, p_attempts, p_delays, p_applied) d;
  select array_agg(m.flow_slug) as flows, array_agg(m.message_id) as ids into v_over
    from (
      select t.flow_slug, t.message_id
        from unnest(p_run_ids, p_step_slugs, p_task_indexes, p_attempts) i(run_id, step_slug, task_index, attempt)
        cross join lateral (
          select * from pgflow.step_tasks t
           where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index offset 0
        ) t
       where t.status = 'failed' and (i.attempt is null or i.attempt = t.attempts_count)
      union all
      select * from pgflow._late_messages(p_run_ids, p_step_slugs, p_task_indexes, p_attempts)
      union all
      select * from pgflow._dead_messages(p_changed_runs)
      union all
      select * from unnest(p_over_flows, p_over_ids)
    ) m;
  perform pgflow._move_messages(v_delayed.flows, v_delayed.ids, v_delayed.delays, v_over.flows, v_over.ids);
end;
$$;
