-- What each version's queue holds: tasks that could be taken now, that wait for their time, that a worker has; and
-- since when the oldest could have been taken. Reads queues and no history.
create or replace function pgflow.get_queue_depths()
returns table (flow_slug text, ready bigint, delayed bigint, running bigint, oldest_ready_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_late bigint;
begin
  for flow_slug in select f.flow_slug from pgflow.flows f order by 1 loop
    ready := 0; delayed := 0; running := 0; oldest_ready_at := null;
    -- One that somebody dropped or is deleting must not hide the others.
    begin
      if pgflow._use_queue(flow_slug) then
        execute format(
          -- Tasks of wide maps stand far back in time, so the message itself says since when it is there.
          'select count(*) filter (where vt <= now), count(*) filter (where vt > now),
                  min(greatest(vt, enqueued_at)) filter (where vt <= now)
             from pgmq.%I cross join (select clock_timestamp() as now) clock',
          pgmq.format_table_name(flow_slug, 'q')) into ready, delayed, oldest_ready_at;
        select coalesce(sum(t.tasks), 0), coalesce(sum(t.late), 0) into running, v_late
          from pgflow._running_tasks(flow_slug) t;
        ready := ready - v_late;
        delayed := delayed - (running - v_late);
        if ready = 0 then
          oldest_ready_at := null;
        end if;
      end if;
      -- What fails gives its locks back, and what was read stays: see _peek_queue.
      raise exception using errcode = 'no_data_found';
    exception when no_data_found then
      null;
    end;
    return next;
  end loop;
end;
$$;
