-- Starts a run and returns it with the state of its steps.
create or replace function pgflow.start_flow_with_states(flow_slug text, input jsonb, run_id uuid default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_id uuid;
begin
  select r.run_id into v_run_id from pgflow.start_flow(
    start_flow_with_states.flow_slug, start_flow_with_states.input, start_flow_with_states.run_id) r;
  return pgflow.get_run_with_states(v_run_id);
end;
$$;
