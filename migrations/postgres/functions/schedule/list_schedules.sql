-- Schedules by name: the one of this name, those of a flow, those after a name.
create or replace function pgflow.list_schedules(
  name text default null, flow_slug text default null, after text default null, max_schedules int default 1000
) returns setof pgflow.schedules
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.* from pgflow.schedules s
   where (list_schedules.name is null or s.name = list_schedules.name)
     and (list_schedules.flow_slug is null or s.flow_slug = list_schedules.flow_slug)
     and (list_schedules.after is null or s.name > list_schedules.after)
   order by s.name limit list_schedules.max_schedules;
$$;
