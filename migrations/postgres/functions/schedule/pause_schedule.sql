-- Keeps a schedule from starting runs, whatever else is done with it. False if it was paused before, null if there is none.
create or replace function pgflow.pause_schedule(name text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update pgflow.schedules s set paused_at = clock_timestamp(), revision = s.revision + 1
   where s.name = pause_schedule.name and s.paused_at is null;
  if found then
    return true;
  end if;
  return (select false from pgflow.schedules s where s.name = pause_schedule.name);
end;
$$;
