-- Tasks of a step by index, without payloads. To go on after a page, give the index of its last row as after_index.
-- `yield_reason`: why a task waits that was given back for a reason; `ready_at`: when a task that waits may be claimed; `lost_at`: when the worker that has it counts as lost.
create or replace function pgflow.list_tasks(
  run_id uuid,
  step_slug text,
  statuses text[] default null,
  after_index int default null,
  qty int default 100
) returns table (
  task_index int, status text, attempts int, losses int, worker_id uuid, error_message text, yield_reason text,
  ready_at timestamptz, started_at timestamptz, ended_at timestamptz, lost_at timestamptz
)
language plpgsql stable security definer
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
  v_flow text := (select r.flow_slug from pgflow.runs r where r.run_id = list_tasks.run_id);
  -- Of a step that is not waited for, nothing is ready and nobody is lost.
  v_is_open boolean := exists (
    select from pgflow.step_states s
      join pgflow.runs r on r.run_id = s.run_id and r.status = 'started'
     where s.run_id = list_tasks.run_id and s.step_slug = list_tasks.step_slug and s.status = 'started');
  v_page pgflow.step_tasks[];
  v_ids bigint[];
  v_ready timestamptz[];
begin
  v_page := array(
    select t from pgflow.step_tasks t
     where t.run_id = list_tasks.run_id and t.step_slug = list_tasks.step_slug
       and t.task_index > coalesce(list_tasks.after_index, -1)
       and (list_tasks.statuses is null or t.status = any (list_tasks.statuses))
     order by t.task_index limit least(greatest(coalesce(list_tasks.qty, 100), 0), 1000));
  if v_is_open and pgflow._use_queue(v_flow) then
    execute format(
      -- Tasks of wide maps stand far back in time, so the message itself says since when it is there.
      'select array_agg(m.msg_id), array_agg(greatest(m.vt, m.enqueued_at)) from pgmq.%I m where m.msg_id = any ($1)',
      pgmq.format_table_name(v_flow, 'q'))
      into v_ids, v_ready
      using array(select t.message_id from unnest(v_page) t where t.status = 'queued');
  end if;
  return query
    select t.task_index, t.status, t.attempts_count - t.refunded_count, t.requeued_count,
           case when t.status = 'started' then t.last_worker_id end, t.error_message,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts_count then t.yield_reason end,
           case when t.status = 'queued' then v_ready[array_position(v_ids, t.message_id)] end,
           t.started_at, coalesce(t.completed_at, t.failed_at),
           case when v_is_open and t.status = 'started' then
             greatest(t.lease_until, t.started_at + make_interval(secs => coalesce(d.opt_timeout, f.opt_timeout)))
               + make_interval(secs => pgflow._lease_grace()) end
      from unnest(v_page) t
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
      join pgflow.flows f on f.flow_slug = t.flow_slug
     order by t.task_index;
end;
$$;
