-- Gives back what a worker holds of some queues and does not know of, as release_tasks does: the tasks
-- of a claim whose answer got lost. Known are the attempts that are named. Returns how many it gave back.
--
-- A worker calls this while none of its claims is under way: what that one is about to bring would be
-- given back too. The transaction of a lost claim may end after its connection did, so it asks more than once.
create or replace function pgflow.release_unknown_tasks(
  worker_id uuid,
  queue_names text[],
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[]
) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_unknown record;
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(run_ids), attempts);
  with unknown as (
    select t.run_id, t.step_slug, t.task_index, t.attempt
      from (select distinct n as name from unnest(queue_names) n order by 1) q
      cross join lateral pgflow._tasks_of_worker(q.name, release_unknown_tasks.worker_id) t
     where pgflow._peek_queue(q.name, 'taken')
    except
    select * from unnest(run_ids, step_slugs, task_indexes, attempts)
  )
  select coalesce(array_agg(u.run_id), '{}') as run_ids, coalesce(array_agg(u.step_slug), '{}') as step_slugs,
         coalesce(array_agg(u.task_index), '{}') as task_indexes, coalesce(array_agg(u.attempt), '{}') as attempts
    into v_unknown from unknown u;
  return (
    select count(*)
      from pgflow.release_tasks(v_unknown.run_ids, v_unknown.step_slugs, v_unknown.task_indexes, v_unknown.attempts) r
     where r.outcome = 'applied');
end;
$$;
