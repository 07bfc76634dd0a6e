-- Starts every step of a run that waits for nothing and has tasks.
create or replace function pgflow.start_ready_steps(run_id uuid) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_steps text[];
begin
  perform from pgflow.runs r
    where r.run_id = start_ready_steps.run_id and r.status = 'started' for no key update;
  if not found then
    return;
  end if;
  with ready as (
    select s.step_slug from pgflow.step_states s
     where s.run_id = start_ready_steps.run_id
       and s.status = 'created' and s.remaining_deps = 0 and s.initial_tasks > 0
     order by s.step_slug
       for no key update
  ), started as (
    update pgflow.step_states s
       set status = 'started', started_at = now(), remaining_tasks = s.initial_tasks
      from ready
     where s.run_id = start_ready_steps.run_id and s.step_slug = ready.step_slug
    returning s.step_slug
  )
  select array_agg(step_slug) into v_steps from started;
  if v_steps is not null then
    perform pgflow._start_steps(array_fill(start_ready_steps.run_id, array[cardinality(v_steps)]), v_steps);
  end if;
end;
$$;
