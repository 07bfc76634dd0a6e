-- Looks for anything that cannot be: one row per violation, none when all is well. Reads
-- everything, so it is for tests and for an operator's doubts, not for a timer.
create or replace function pgflow.check()
returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  return query select * from pgflow._check_definitions();
  return query select * from pgflow._check_runs();
  return query select * from pgflow._check_steps();
  return query select * from pgflow._check_fan_outs();
  return query select * from pgflow._check_tasks();
  return query select * from pgflow._check_task_inputs();
  return query select * from pgflow._check_messages();
  return query
    select c.* from (select f.flow_slug from pgflow.flows f order by 1) f cross join lateral pgflow._check_queue(f.flow_slug) c;
  return query select * from pgflow._check_events();
  return query select * from pgflow._check_event_states();
  return query select * from pgflow._check_jobs();
  return query select * from pgflow._check_job_edges();
  return query select * from pgflow._check_job_archive();
  return query select * from pgflow._check_permits();
  return query select * from pgflow._check_streams();
  return query select * from pgflow._check_waits_of_tasks();
  return query select * from pgflow._check_children();
  return query select * from pgflow._check_signals();
  return query select * from pgflow._check_schedules();
end;
$$;
