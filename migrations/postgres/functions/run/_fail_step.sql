-- Fails a step and its run. The caller holds both locks and archives the run's messages.
create or replace function pgflow._fail_step(run_id uuid, step_slug text, error_message text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_detail jsonb := jsonb_build_object('error_message', _fail_step.error_message);
  v_step jsonb;
  v_run jsonb;
begin
  -- The events get the times: a retry of the run takes them out of the rows.
  update pgflow.step_states s
     set status = 'failed', failed_at = greatest(now(), s.started_at), error_message = _fail_step.error_message
   where s.run_id = _fail_step.run_id and s.step_slug = _fail_step.step_slug
  returning v_detail || jsonb_build_object('failed_at', s.failed_at) into v_step;
  update pgflow.runs r set status = 'failed', failed_at = greatest(now(), r.started_at)
   where r.run_id = _fail_step.run_id
  returning v_detail || jsonb_build_object('failed_at', r.failed_at) into v_run;
  perform pgflow._record_events(
    array[_fail_step.run_id, _fail_step.run_id],
    array['step:failed ' || _fail_step.step_slug, 'run:failed'],
    array[v_step, v_run]
  );
end;
$$;
