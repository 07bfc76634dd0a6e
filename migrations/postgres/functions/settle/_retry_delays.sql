-- For failed items whose task is queued now: its message, and in how many seconds it may be read.
-- A delay that was asked for counts as it is; otherwise the policy's back-off.
create or replace function pgflow._retry_delays(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[],
  delays int[],
  applied int[]
) returns table (flow_slug text, message_id bigint, delay int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select t.flow_slug, t.message_id, coalesce(i.delay, floor(
        least(pgflow.calculate_retry_delay(
                coalesce(d.opt_base_delay, f.opt_base_delay), t.attempts_count - t.refunded_count)
              * (1 + random() * f.retry_jitter), pgflow._max_retry_delay()))::int)
      from (
        select distinct on (i.run_id, i.step_slug, i.task_index) i.*
          from unnest(run_ids, step_slugs, task_indexes, attempts, delays)
            with ordinality i(run_id, step_slug, task_index, attempt, delay, n)
         where i.attempt is null or i.n = any (applied)
         order by i.run_id, i.step_slug, i.task_index, i.n
      ) i
      cross join lateral (
        select * from pgflow.step_tasks t
         where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index and t.status = 'queued' offset 0
      ) t
      cross join lateral (
        select from pgflow.step_states s where s.run_id = t.run_id and s.step_slug = t.step_slug and s.status = 'started' offset 0) s
      cross join lateral (select from pgflow.runs r where r.run_id = t.run_id and r.status = 'started' offset 0) r
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
      join pgflow.flows f on f.flow_slug = t.flow_slug
     where t.message_id is not null;
end;
$$;
