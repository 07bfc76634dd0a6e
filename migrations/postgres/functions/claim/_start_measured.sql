-- As _start_messages, where the tasks may be more than is handed out at once: _fates measures each of them.
--
-- A task that nobody can ever be given is marked, and the next sweep ends its step. Not here, because a
-- claim holds messages, and whoever ends a step takes locks that come before those.
create or replace function pgflow._start_measured(
  flow_slug text,
  msg_ids bigint[],
  bodies jsonb[],
  worker_id uuid,
  fetches boolean,
  taken bigint,
  out tasks pgflow.step_task_record[],
  out over bigint[],
  out bytes bigint
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with free as materialized (
    select k.run_id, k.step_slug, t.place, k.task_index, k.msg_id, coalesce(d.opt_timeout, f.opt_timeout) as timeout, d.step_type
      from pgflow._tasks_of_messages(_start_measured.msg_ids, _start_measured.bodies) k
      join pgflow.runs r on r.run_id = k.run_id and r.status = 'started'
      join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug and s.status = 'started'
      join pgflow.steps d on d.flow_slug = _start_measured.flow_slug and d.step_slug = k.step_slug
      join pgflow.flows f on f.flow_slug = d.flow_slug
      cross join lateral (
        select t.ctid as place
          from pgflow.step_tasks t
         where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index
           and t.message_id = k.msg_id and t.flow_slug = _start_measured.flow_slug and t.status = 'queued'
           and t.permanently_stalled_at is null
           for no key update skip locked
      ) t
  ), fates as materialized (
    select m.*
      from (select array_agg(f.run_id) as runs, array_agg(f.step_slug) as steps, array_agg(f.task_index) as indexes
              from free f having count(*) > 0) a
      cross join lateral pgflow._fates(a.runs, a.steps, a.indexes, _start_measured.taken) m
  ), decided as materialized (
    select f.*, m.fates[row_number() over ()] as fate from fates m cross join free f
  ), never as (
    update pgflow.step_tasks t
       set permanently_stalled_at = now(),
           error_message = format('Input too large: what step %s is given has more than %s bytes', t.step_slug, pgflow._input_limit())
      from decided k
     where t.ctid = k.place and k.fate = 'never'
  ), started as (
    update pgflow.step_tasks t
       set status = 'started', started_at = greatest(now(), t.queued_at, clock_timestamp() - interval '1 second'),
           attempts_count = t.attempts_count + 1,
           last_worker_id = _start_measured.worker_id, lease_until = null
      from decided k
     where t.ctid = k.place and k.fate in ('started', 'heavy')
    returning row(
      t.flow_slug, t.run_id, t.step_slug,
      case when k.step_type = 'map' then t.input
        else pgflow._heavy_input(t.flow_slug, t.run_id, t.step_slug, k.fate = 'heavy' and fetches) end,
      t.message_id, t.task_index, t.attempts_count, k.timeout)::pgflow.step_task_record as task
  )
  select (select array_agg(s.task) from started s), (select array_agg(k.msg_id) from decided k where k.fate = 'over'),
         (select m.bytes from fates m)
    into tasks, over, bytes;
end;
$$;
