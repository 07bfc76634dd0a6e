-- Locks the steps and running tasks that results belong to, and the runs of tasks that have no
-- attempt left. Returns these runs.
create or replace function pgflow._lock_steps_to_fail(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_attempts int[]
) returns uuid[]
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_exhausted uuid[];
begin
  perform from (select distinct k.run_id, k.step_slug from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)) k
    join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug
   where s.status = 'started'
   order by s.run_id, s.step_slug
     for no key update of s;

  -- Attempts of a started task change only under its own lock, taken here without the run's: a
  -- run that turns out to need its lock gets it next, and no one holds a run and wants a task.
  with running as materialized (
    select t.run_id, t.flow_slug, t.step_slug, t.attempts_count
      from unnest(p_run_ids, p_step_slugs, p_task_indexes, p_attempts) i(run_id, step_slug, task_index, attempt)
      join pgflow.step_tasks t
        on t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
     where t.status = 'started' and (i.attempt is null or i.attempt = t.attempts_count)
     order by t.run_id, t.step_slug, t.task_index
       for no key update of t
  )
  select array_agg(distinct t.run_id) into v_exhausted
    from running t
    join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
    join pgflow.flows f on f.flow_slug = t.flow_slug
   where t.attempts_count >= coalesce(d.opt_max_attempts, f.opt_max_attempts);

  perform from pgflow.runs r where r.run_id = any (v_exhausted) order by r.run_id for no key update;
  return v_exhausted;
end;
$$;
