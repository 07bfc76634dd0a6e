-- The versions of these flows, and what each has in its queue: a version that no worker serves is
-- one whose tasks stay. Reads queues and no history, so it costs the same after a million runs.
create or replace function pgflow.get_flow_versions(flow_names text[])
returns table (
  flow_name text,
  version int,
  flow_slug text,
  is_current boolean,
  open_runs bigint,
  open_tasks bigint,
  oldest_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_version record;
  v_queue text;
begin
  for v_version in
    select v.flow_name, v.version, v.flow_slug from pgflow.flow_versions v where v.flow_name = any (flow_names)
    union all
    -- A flow that never got a second version is not in the table.
    select f.flow_slug, 1, f.flow_slug from pgflow.flows f
     where f.flow_slug = any (flow_names)
       and not exists (select from pgflow.flow_versions v where v.flow_slug = f.flow_slug)
    order by 1, 2
  loop
    flow_name := v_version.flow_name;
    version := v_version.version;
    flow_slug := v_version.flow_slug;
    is_current := flow_slug = pgflow.current_flow(flow_name);
    open_runs := 0; open_tasks := 0; oldest_at := null;
    v_queue := pgmq.format_table_name(flow_slug, 'q');
    -- One that somebody dropped or is deleting must not hide the others.
    begin
      if pgflow._use_queue(flow_slug) then
        execute format(
          'select count(distinct m.message ->> ''run_id''), count(*), min(m.enqueued_at) from pgmq.%I m', v_queue
        ) into open_runs, open_tasks, oldest_at;
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
