-- Fails a run and then the step that broke it. Unlike other failures the run's event comes first
-- and carries no message: clients rely on that.
create or replace function pgflow._fail_run_for_type(run_id uuid, step_slug text, error_message text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update pgflow.runs r set status = 'failed', failed_at = greatest(now(), r.started_at)
   where r.run_id = _fail_run_for_type.run_id;
  update pgflow.step_states s
     set status = 'failed', failed_at = greatest(now(), s.started_at), error_message = _fail_run_for_type.error_message
   where s.run_id = _fail_run_for_type.run_id and s.step_slug = _fail_run_for_type.step_slug;
  perform pgflow._record_events(
    array[_fail_run_for_type.run_id, _fail_run_for_type.run_id],
    array['run:failed', 'step:failed ' || _fail_run_for_type.step_slug],
    array[null, jsonb_build_object('error_message', _fail_run_for_type.error_message)]
  );
end;
$$;
