-- Removes a schedule, if it was made there, and says whether there was one. Runs that it started go on.
create or replace function pgflow.remove_schedule(name text, origin text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from pgflow.schedules s
   where s.name = remove_schedule.name and (remove_schedule.origin is null or s.origin = remove_schedule.origin);
  return found;
end;
$$;
