-- Workers, the newest id first, each with the tasks that it has. Those that signed off, or were silent for a day, only
-- with `with_gone`. To go on after a page, give the id of its last row as before_worker.
create or replace function pgflow.list_workers(
  with_gone boolean default false,
  before_worker uuid default null,
  qty int default 100
) returns table (
  worker_id uuid, host text, pid int, queue_names text[], slots int, running bigint,
  started_at timestamptz, last_heartbeat_at timestamptz, stopped_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    with running as materialized (
      select t.worker_id, sum(t.tasks)::bigint as tasks
        from pgflow.flows f cross join lateral pgflow._running_tasks(f.flow_slug) t
       group by 1
    )
    select w.worker_id, w.host, w.pid, string_to_array(w.queue_name, ','), w.slots, coalesce(r.tasks, 0),
           w.started_at, w.last_heartbeat_at, w.stopped_at
      from pgflow.workers w
      left join running r on r.worker_id = w.worker_id
     where (list_workers.before_worker is null or w.worker_id < list_workers.before_worker)
       and (list_workers.with_gone
            or w.stopped_at is null and w.last_heartbeat_at >= clock_timestamp() - interval '24 hours')
     order by w.worker_id desc limit least(greatest(coalesce(list_workers.qty, 100), 0), 1000);
end;
$$;
