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
  select 'schedule_moments', s.last_run, format('schedule %s has a last moment without a run, or moments in line that are not in order', s.name)
    from pgflow.schedules s
   where (s.last_at is null) <> (s.last_run is null)
      or s.queued_at <> array(select distinct q from unnest(s.queued_at) q order by 1)
      or cardinality(s.queued_runs) <> (select count(distinct q) from unnest(s.queued_runs) q)
  union all
  select 'schedule_error', s.last_run, format('schedule %s is broken, but nobody said why', s.name)
    from pgflow.schedules s
   where s.status = 'broken' and s.error is null
  union all
  select 'schedule_runs', s.last_run, format('schedule %s has started run %s, which is also of schedule %s', s.name, s.last_run, o.name)
    from pgflow.schedules s
    join pgflow.schedules o on o.last_run = s.last_run and o.name > s.name;
end;
$$;
