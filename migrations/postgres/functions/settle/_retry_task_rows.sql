-- Puts failed attempts back into the queue, in runs where none was the last. In a run that has
-- ended there is no retry: the task just fails. Returns the positions of the items retried.
create or replace function pgflow._retry_task_rows(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  error_messages text[],
  attempts int[],
  fatal boolean[],
  except_runs uuid[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_retried int[];
begin
  with item as (
    select distinct on (i.run_id, i.step_slug, i.task_index) i.*
      from unnest(run_ids, step_slugs, task_indexes, error_messages, attempts, fatal)
        with ordinality i(run_id, step_slug, task_index, error_message, attempt, is_fatal, n)
     where i.run_id <> all (except_runs)
     order by i.run_id, i.step_slug, i.task_index, i.n
     -- The limit cuts nothing: the planner takes it for a few, and looks tasks up one by one, however few there were when it planned.
     limit cardinality(run_ids)
  ), changed as (
    update pgflow.step_tasks t
       set status = case when r.status = 'started' then 'queued' else 'failed' end,
           failed_at = case when r.status = 'started' then null else greatest(now(), t.started_at) end,
           started_at = case when r.status = 'started' then null else t.started_at end,
           lease_until = null,
           error_message = i.error_message
      from item i
      cross join lateral (select r.status from pgflow.runs r where r.run_id = i.run_id offset 0) r
      cross join lateral (
        select s.flow_slug, s.step_slug, s.status from pgflow.step_states s where s.run_id = i.run_id and s.step_slug = i.step_slug offset 0) s
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
      join pgflow.flows f on f.flow_slug = s.flow_slug
     where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
       and t.status = 'started' and (i.attempt is null or t.attempts_count = i.attempt)
       and (
         r.status in ('failed', 'cancelled')
         or (r.status = 'started' and s.status = 'started'
             and i.is_fatal is not true
             and t.attempts_count - t.refunded_count < coalesce(d.opt_max_attempts, f.opt_max_attempts))
       )
    returning i.n, t.status
  )
  select array_agg(c.n::int) into v_retried from changed c where c.status = 'queued';
  return v_retried;
end;
$$;
