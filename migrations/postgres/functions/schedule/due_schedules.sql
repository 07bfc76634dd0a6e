-- Schedules that a worker has something to do for that serves these flows: those made by the source of a flow are left to workers
-- that serve it, because they may make an input for each run.
create or replace function pgflow.due_schedules(flow_slugs text[], at timestamptz, max_schedules int)
returns setof pgflow.schedules
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select s.* from pgflow.schedules s
     where s.paused_at is null
       and (s.status = 'pending' or s.next_at <= due_schedules.at
            or (s.status <> 'broken' and cardinality(s.queued_at) > 0))
       and (s.origin = 'client' or s.flow_slug = any (due_schedules.flow_slugs))
     order by s.next_at nulls first, s.name limit due_schedules.max_schedules;
end;
$$;
