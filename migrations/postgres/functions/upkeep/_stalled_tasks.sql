-- Tasks of a flow that have stalled. Whether their run and step are still open is for the caller to see,
-- with the locks it takes. A task that can't be handed out (see _start_measured) counts as one, with `error`
-- saying why.
create or replace function pgflow._stalled_tasks(flow_slug text, grace int)
returns table (run_id uuid, step_slug text, task_index int, message_id bigint, requeued_count int, attempts_count int, error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select t.run_id, t.step_slug, t.task_index, t.message_id, t.requeued_count, t.attempts_count,
           case when t.status = 'queued' then t.error_message end
      from pgflow._taken_tasks(_stalled_tasks.flow_slug) m
      cross join lateral (
        select * from pgflow.step_tasks t
         where t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index and t.message_id = m.msg_id offset 0
      ) t
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
      join pgflow.flows f on f.flow_slug = t.flow_slug
     where t.status = 'queued' and t.permanently_stalled_at is not null
        or t.status = 'started' and t.permanently_stalled_at is null
       and t.started_at < now() - make_interval(secs => coalesce(d.opt_timeout, f.opt_timeout)::float8 + _stalled_tasks.grace)
       and (t.lease_until is null or t.lease_until < clock_timestamp() - make_interval(secs => _stalled_tasks.grace));
end;
$$;
