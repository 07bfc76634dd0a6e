-- Lets a schedule start runs again, from its next moment on: those that came meanwhile are not made up for. False if it was not
-- paused, null if there is none. One that begins later still does.
create or replace function pgflow.resume_schedule(name text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update pgflow.schedules s
     set paused_at = null, revision = s.revision + 1, status = 'pending', after_at = greatest(s.after_at, clock_timestamp()), next_at = null,
         error = null, queued_at = '{}', queued_runs = '{}'
   where s.name = resume_schedule.name and s.paused_at is not null;
  if found then
    return true;
  end if;
  return (select false from pgflow.schedules s where s.name = resume_schedule.name);
end;
$$;
