-- Gives the roles that exist what they need, and everybody else nothing. An owner who could not
-- create the roles when installing calls this again once somebody has.
--   pgflow_client  starts, reads, cancels and retries runs, by functions only
--   pgflow_worker  takes and settles tasks, by functions; registers itself; reads definitions
--   pgflow_viewer  reads every table
create or replace function pgflow.grant_roles() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_client constant text[] := array[
    'start_flow', 'start_flow_with_states', 'start_run', 'get_run_with_states', 'get_run_progress', 'list_runs',
    'read_events', 'cancel_run', 'retry_run'];
  c_worker constant text[] := array[
    'claim_tasks', 'poll_for_tasks', 'start_tasks', 'heartbeat',
    'complete_task', 'complete_tasks', 'fail_task', 'fail_tasks', 'release_tasks', 'release_unknown_tasks',
    'settle_and_claim', 'sweep_and_claim', 'holds_task',
    'requeue_stalled_tasks',
    'mark_worker_stopped', 'track_worker_function', 'get_flow_versions',
    -- Runs with the caller's rights: a worker can verify a shape, not create or replace one.
    'ensure_flow_compiled', '_get_flow_shape', '_compare_flow_shapes', '_compare_step_shapes', '_pattern_shape'];
  c_viewer constant text[] := array[
    'get_run_with_states', 'get_run_progress', 'list_runs', 'read_events', 'get_flow_versions',
    -- Functions in a view run with its reader's rights.
    '_event_payload'];
begin
  revoke all on schema pgflow from public;
  revoke all on all tables in schema pgflow from public;
  revoke all on all functions in schema pgflow from public;

  if pgflow._grant_functions('pgflow_client', c_client) then
    grant select on pgflow.flows, pgflow.steps, pgflow.deps, pgflow.limits to pgflow_client;
  end if;
  if pgflow._grant_functions('pgflow_worker', c_worker) then
    grant select on pgflow.flows, pgflow.steps, pgflow.deps, pgflow.limits to pgflow_worker;
    grant select, insert, update on pgflow.workers, pgflow.worker_functions to pgflow_worker;
  end if;
  if pgflow._grant_functions('pgflow_viewer', c_viewer) then
    grant select on all tables in schema pgflow to pgflow_viewer;
  end if;
end;
$$;
