-- Messages: a live task has one in its queue, and nothing else has.
create or replace function pgflow._check_messages() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_flow text;
begin
  for v_flow in select f.flow_slug from pgflow.flows f order by f.flow_slug loop
    return query execute format($query$
      with live as (
        select t.run_id, t.step_slug, t.task_index, t.message_id
          from pgflow.step_tasks t
          join pgflow.runs r on r.run_id = t.run_id and r.status = 'started'
          join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug and s.status = 'started'
         where t.flow_slug = %L and t.status in ('queued', 'started') and t.permanently_stalled_at is null
      )
      select case when l.run_id is null then 'message_without_live_task' else 'live_task_without_message' end,
             coalesce(l.run_id, case when q.message ->> 'run_id' ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then (q.message ->> 'run_id')::uuid end),
             coalesce(format('task %%s of %%s', l.task_index, l.step_slug), format('message %%s', q.msg_id))
        from live l
        full join pgmq.%I q on q.msg_id = l.message_id
       where l.run_id is null or q.msg_id is null
      $query$, v_flow, pgmq.format_table_name(v_flow, 'q'));
  end loop;
end;
$$;
