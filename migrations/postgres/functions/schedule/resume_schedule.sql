-- Lets a schedule start runs again, from its next moment on: those that came meanwhile are not made up for. False if it was not
-- paused, null if there is none. One that begins later still does.
create or replace function pgflow.resume_schedule(name text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_is_paused boolean;
begin
  -- See pause_schedule.
  select s.paused_at is not null into v_is_paused from pgflow.schedules s where s.name = resume_schedule.name for update;
  update pgflow.schedules s
     set paused_at = null, revision = s.revision + 1, status = 'pending', after_at = greatest(s.after_at, clock_timestamp()), next_at = null,
         error = null, queued_at = '{}', queued_runs = '{}'
   where v_is_paused and s.name = resume_schedule.name;
  return v_is_paused;
end;
$$;
