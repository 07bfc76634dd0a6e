-- Takes tasks from one queue in one round trip, waiting up to max_poll_seconds for the first.
create or replace function pgflow.poll_for_tasks(
  queue_name text,
  vt int,
  qty int,
  max_poll_seconds int default 5,
  poll_interval_ms int default 100
) returns setof pgflow.step_task_record
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
  v_until timestamptz := clock_timestamp() + make_interval(secs => coalesce(max_poll_seconds, 5));
begin
  if not exists (select from pgflow.flows f where f.flow_slug = poll_for_tasks.queue_name) then
    raise exception 'There is no flow "%"', poll_for_tasks.queue_name using errcode = 'undefined_table';
  end if;
  while pgflow._use_queue(poll_for_tasks.queue_name) loop
    return query select t.*
      from pgflow._claim_queue(
        poll_for_tasks.queue_name, poll_for_tasks.vt, coalesce(poll_for_tasks.qty, 0), null, null, null, 0) c
      cross join lateral unnest(c.tasks) t;
    exit when found or clock_timestamp() >= v_until;
    -- Not below a millisecond: a poll is a wait, not a loop.
    perform pg_sleep(greatest(coalesce(poll_interval_ms, 100), 1) / 1000.0);
  end loop;
end;
$$;
