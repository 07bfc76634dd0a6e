-- Messages of a flow: a live task has one in its queue, which names it, and nothing else has.
create or replace function pgflow._check_queue(flow_slug text) returns table (invariant text, run_id uuid, detail text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_archive text;
begin
  if not pgflow._use_queue(_check_queue.flow_slug) then
    return;
  end if;
  return query execute format($query$
    with live as (
      select t.run_id, t.step_slug, t.task_index, t.message_id, t.status
        from pgflow.step_tasks t
        join pgflow.runs r on r.run_id = t.run_id and r.status = 'started'
        join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug and s.status = 'started'
       where t.flow_slug = %1$L and (t.status = 'queued' or (t.status = 'started' and t.permanently_stalled_at is null))
    )
    select case when l.run_id is null then 'message_without_live_task' when q.msg_id is null then 'live_task_without_message'
                when l.status = 'started' and q.read_ct = 0 then 'message_unread' else 'message_body' end,
           coalesce(l.run_id, case when q.message ->> 'run_id' ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then (q.message ->> 'run_id')::uuid end),
           case when l.run_id is null then format('message %%s', q.msg_id)
                else format('task %%s of %%s', l.task_index, l.step_slug) end
      from live l
      full join pgmq.%2$I q on q.msg_id = l.message_id
     where l.run_id is null or q.msg_id is null
        -- Recovery looks for messages that were read.
        or (l.status = 'started' and q.read_ct = 0)
        or q.message is distinct from jsonb_build_object(
          'flow_slug', %1$L, 'run_id', l.run_id, 'step_slug', l.step_slug, 'task_index', l.task_index)
    $query$, _check_queue.flow_slug, pgmq.format_table_name(_check_queue.flow_slug, 'q'));
  v_archive := pgmq.format_table_name(_check_queue.flow_slug, 'a');
  if to_regclass(format('pgmq.%I', v_archive)) is null then
    return;
  end if;
  -- What is left of a task's messages, in queue and archive: the newest is the one it names.
  return query execute format($query$
    select 'message_of_other_task', t.run_id, format('task %%s of %%s names message %%s, its newest is %%s',
                                                     t.task_index, t.step_slug, t.message_id, m.newest)
      from (
        select m.message ->> 'run_id' as run_id, m.message ->> 'step_slug' as step_slug,
               m.message ->> 'task_index' as task_index, max(m.msg_id) as newest
          from (select msg_id, message from pgmq.%1$I union all select msg_id, message from pgmq.%2$I) m
         group by 1, 2, 3
      ) m
      join pgflow.step_tasks t
        on t.run_id::text = m.run_id and t.step_slug = m.step_slug and t.task_index::text = m.task_index
     where t.flow_slug = %3$L and t.message_id is distinct from m.newest
    $query$, pgmq.format_table_name(_check_queue.flow_slug, 'q'), v_archive, _check_queue.flow_slug);
  -- What fails gives its locks back, and what it returned stays: see _peek_queue.
  raise exception using errcode = 'no_data_found';
exception when no_data_found then
  null;
end;
$$;
