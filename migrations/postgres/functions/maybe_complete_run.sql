-- Completes a run that has no steps left.
create or replace function pgflow.maybe_complete_run(run_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
  update pgflow.runs r
     set status = 'completed', completed_at = now(), output = pgflow._run_output(r.run_id, r.flow_slug)
   where r.run_id = maybe_complete_run.run_id and r.remaining_steps = 0 and r.status = 'started';
  if found then
    perform pgflow._record_run_completed(array[maybe_complete_run.run_id]);
  end if;
end;
$$;
