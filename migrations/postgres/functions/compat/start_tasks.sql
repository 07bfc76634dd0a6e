-- Starts the queued tasks behind messages that the caller has read; others are ignored.
create or replace function pgflow.start_tasks(flow_slug text, msg_ids bigint[], worker_id uuid)
returns setof pgflow.step_task_record
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
  v_ids bigint[];
  v_bodies jsonb[];
  v_least_reads int;
  v_started record;
begin
  if not pgflow._use_queue(start_tasks.flow_slug) then
    return;
  end if;
  -- The message is locked before its task, as in a claim. Not `skip locked`: a reader that was too
  -- late for a message still holds its lock for a moment, and the task would wait for nothing.
  execute format(
    'select array_agg(m.msg_id), array_agg(m.message), min(m.read_ct)
       from (select msg_id, message, read_ct from pgmq.%I
              where msg_id = any ($1) order by msg_id for update) m',
    pgmq.format_table_name(start_tasks.flow_slug, 'q')
  ) into v_ids, v_bodies, v_least_reads using start_tasks.msg_ids;
  if v_ids is null then
    return;
  end if;
  select * into v_started
    from pgflow._start_messages(start_tasks.flow_slug, v_ids, v_bodies, start_tasks.worker_id, 0);
  perform pgflow.set_vt_batch(start_tasks.flow_slug, array_agg(t.msg_id), array_agg(least(t.timeout, 2147483647 - pgflow._lease_grace()) + pgflow._lease_grace()))
     from unnest(v_started.tasks) t;
  perform pgflow._show_again(start_tasks.flow_slug, v_started.over);
  if v_least_reads = 0 then
    -- Started without having been read: recovery looks for messages that were.
    execute format('update pgmq.%I set read_ct = 1 where msg_id = any ($1) and read_ct = 0',
                   pgmq.format_table_name(start_tasks.flow_slug, 'q')) using v_ids;
  end if;
  return query select t.* from unnest(v_started.tasks) t;
end;
$$;
