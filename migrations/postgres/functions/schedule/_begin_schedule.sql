-- Lets a worker find out the next moment of a schedule after this one.
create or replace function pgflow._begin_schedule(schedule pgflow.schedules, at timestamptz) returns pgflow.schedules
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  schedule.status := 'pending';
  schedule.after_at := at;
  schedule.next_at := null;
  schedule.error := null;
  schedule.queued_at := '{}';
  schedule.queued_runs := '{}';
  return schedule;
end;
$$;
