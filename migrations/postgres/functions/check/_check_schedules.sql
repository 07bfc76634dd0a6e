-- Schedules: none comes next before what was, and none has a run that another schedule could have started.
create or replace function pgflow._check_schedules() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select 'schedule_moments', s.last_run, format('schedule %s is next due at %s, but moments up to %s have come', s.name, s.next_at, s.after_at)
    from pgflow.schedules s
   where s.next_at <= s.after_at
  union all
  select 'schedule_runs', s.last_run, format('schedule %s has started run %s, which is also of schedule %s', s.name, s.last_run, o.name)
    from pgflow.schedules s
    join pgflow.schedules o on o.last_run = s.last_run and o.name > s.name;
end;
$$;
