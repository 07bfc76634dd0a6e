-- What time it is, and when the next schedule is due that is not due by now: for a worker that serves these flows.
create or replace function pgflow.next_schedule(flow_slugs text[], out now_at timestamptz, out upcoming timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  now_at := clock_timestamp();
  upcoming := (
    select min(s.next_at) from pgflow.schedules s
     where s.paused_at is null and s.next_at > next_schedule.now_at
       and (s.origin = 'client' or s.flow_slug = any (next_schedule.flow_slugs)));
end;
$$;
