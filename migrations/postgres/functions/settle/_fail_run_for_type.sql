-- Fails a run and then the step that broke it. Unlike other failures the run's event comes first
-- and carries no message: clients rely on that.
create or replace function pgflow._fail_run_for_type(run_id uuid, step_slug text, error_message text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run jsonb;
  v_step jsonb;
begin
  -- The events get the times: a retry of the run takes them out of the rows.
  update pgflow.runs r set status = 'failed', failed_at = greatest(now(), r.started_at)
   where r.run_id = _fail_run_for_type.run_id
  returning jsonb_build_object('failed_at', r.failed_at) into v_run;
  update pgflow.step_states s
     set status = 'failed', failed_at = greatest(now(), s.started_at), error_message = _fail_run_for_type.error_message
   where s.run_id = _fail_run_for_type.run_id and s.step_slug = _fail_run_for_type.step_slug
  returning jsonb_build_object('failed_at', s.failed_at, 'error_message', s.error_message) into v_step;
  perform pgflow._record_events(
    array[_fail_run_for_type.run_id, _fail_run_for_type.run_id],
    array['run:failed', 'step:failed ' || _fail_run_for_type.step_slug],
    array[v_run, v_step]
  );
end;
$$;
