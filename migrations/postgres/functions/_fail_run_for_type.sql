-- Fails a run and then the step that broke it. Unlike other failures the run's event comes first
-- and carries no message: clients rely on that.
create or replace function pgflow._fail_run_for_type(run_id uuid, step_slug text, error_message text) returns void
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_flow text;
begin
  update pgflow.runs r set status = 'failed', failed_at = now()
   where r.run_id = _fail_run_for_type.run_id
  returning r.flow_slug into v_flow;
  update pgflow.step_states s
     set status = 'failed', failed_at = now(), error_message = _fail_run_for_type.error_message
   where s.run_id = _fail_run_for_type.run_id and s.step_slug = _fail_run_for_type.step_slug;
  perform pgflow._record_events('run:failed', array[_fail_run_for_type.run_id], array[null::text], array[
    jsonb_build_object('flow_slug', v_flow, 'status', 'failed', 'failed_at', now())]);
  perform pgflow._record_events(
    'step:failed', array[_fail_run_for_type.run_id], array[_fail_run_for_type.step_slug], array[
      jsonb_build_object('step_slug', _fail_run_for_type.step_slug, 'status', 'failed',
                         'error_message', _fail_run_for_type.error_message, 'failed_at', now())]);
end;
$$;
