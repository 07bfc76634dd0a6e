-- Waits and tasks: a task that waits in a run that goes on has a wait, and nothing else has; the log says the same.
create or replace function pgflow._check_waits_of_tasks() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  -- Planned once per session: this is called often where nothing waits.
  return query
  select 'wait_task', coalesce(w.run_id, t.run_id), case when w.run_id is null
      then format('task %s of %s waits for nothing', t.task_index, t.step_slug)
      else format('task %s of %s does not wait', w.task_index, w.step_slug) end
    from pgflow.waits w
    full join (
      select t.* from pgflow.step_tasks t
        join pgflow.runs r on r.run_id = t.run_id and r.status = 'started' and r.has_waits
        join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug and s.status = 'started'
       where t.status = 'waiting'
    ) t on t.run_id = w.run_id and t.step_slug = w.step_slug and t.task_index = w.task_index
     and t.attempts_count = w.attempt and t.flow_slug = w.flow_slug
   where w.run_id is null or t.run_id is null
  union all
  select 'wait_mark', t.run_id, format('task %s of %s waits in a run that is not marked', t.task_index, t.step_slug)
    from pgflow.step_tasks t
    join pgflow.runs r on r.run_id = t.run_id and r.has_waits is not true
   where t.status = 'waiting'
  union all
  select 'wait_mark', r.run_id, 'a run with hooks or signals is not marked'
    from pgflow.runs r
   where r.has_waits is not true
     and r.run_id in (select h.run_id from pgflow.hooks h union all select s.run_id from pgflow.signals s)
  union all
  select 'wait_times', w.run_id, format('task %s of %s waits since or until another moment than its event says', w.task_index, w.step_slug)
    from pgflow.waits w
    join pgflow.runs r on r.run_id = w.run_id and r.record_events
    left join lateral (
      select e.detail, e.at from pgflow._event_words() e
       where e.run_id = w.run_id and e.step_slug = w.step_slug and e.event_type = 'step:waiting'
         and e.detail ->> 'task_index' = w.task_index::text
       order by e.seq desc limit 1
    ) e on true
   where e.detail is null or e.detail ->> 'on' is distinct from w.kind
      or e.detail ->> 'until' is distinct from ((extract(epoch from w.until) * 1000000)::bigint)::text
      or w.since > e.at or w.until < w.since and w.kind <> 'sleep'
  union all
  select 'wait_token', w.run_id, format('task %s of %s waits for an announced token that is not its own', w.task_index, w.step_slug)
    from pgflow.waits w
   where starts_with(w.token, 'hk_') and not exists (
     select from pgflow.hooks h
      where h.token = w.token and h.run_id = w.run_id and h.step_slug = w.step_slug and h.task_index = w.task_index);
end;
$$;
