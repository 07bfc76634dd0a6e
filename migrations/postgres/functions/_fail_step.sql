-- Fails a step and its run. The caller holds both locks and archives the run's messages.
create or replace function pgflow._fail_step(run_id uuid, step_slug text, error_message text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_detail jsonb := jsonb_build_object('error_message', _fail_step.error_message);
begin
  update pgflow.step_states s
     set status = 'failed', failed_at = greatest(now(), s.started_at), error_message = _fail_step.error_message
   where s.run_id = _fail_step.run_id and s.step_slug = _fail_step.step_slug;
  update pgflow.runs r set status = 'failed', failed_at = greatest(now(), r.started_at) where r.run_id = _fail_step.run_id;
  perform pgflow._record_events(
    array[_fail_step.run_id, _fail_step.run_id],
    array['step:failed ' || _fail_step.step_slug, 'run:failed'],
    array[v_detail, v_detail]
  );
end;
$$;
