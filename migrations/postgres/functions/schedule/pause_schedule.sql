-- Keeps a schedule from starting runs, whatever else is done with it. False if it was paused before, null if there is none.
create or replace function pgflow.pause_schedule(name text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_is_on boolean;
begin
  -- Locked before it is looked at, so that the answer is about what is there when others are done with it.
  select s.paused_at is null into v_is_on from pgflow.schedules s where s.name = pause_schedule.name for update;
  update pgflow.schedules s set paused_at = clock_timestamp(), revision = s.revision + 1
   where v_is_on and s.name = pause_schedule.name;
  return v_is_on;
end;
$$;
