-- Gives the roles that exist what they need, and everybody else nothing. An owner who could not
-- create the roles when installing calls this again once somebody has.
--   pgflow_client  starts, reads, cancels, signals and retries runs, keeps schedules, submits, reads and cancels jobs, sets
--                  capacities and rates, writes and reads streams, by functions only
--   pgflow_worker  takes and settles tasks and jobs, writes streams, starts what schedules want, by functions; registers itself; reads definitions
--   pgflow_upkeep  deletes runs and jobs that ended long ago, and streams whose time is over; a worker that is to retain needs it too; helps jobs along
--   pgflow_viewer  reads every table, but no token that was announced
create or replace function pgflow.grant_roles() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_client constant text[] := array[
    'find_jobs', 'find_jobs_by_name', 'get_job_summaries',
    'start_flow', 'start_flow_with_states', 'start_run', 'get_run_with_states', 'get_run_progress', 'list_runs',
    'get_run', 'get_run_statuses', 'get_run_input', 'get_run_steps', 'get_step_outputs',
    'get_flows', 'get_flow_definition', 'get_runs_between', 'get_step_times', 'list_tasks',
    'read_events', 'cancel_run', 'retry_run',
    -- For queues, whose producers need not be workers.
    'load_permits', 'load_holds', 'note_permits', 'list_permits', 'get_message', 'queue_depth', 'keep_messages', 'set_capacity', 'set_rate',
    'submit_jobs', 'cancel_jobs', 'get_jobs', 'list_jobs', 'read_job_trace', 'read_job_trace_end', 'get_job_settings', 'list_paused_needs',
    'append_chunks', 'close_stream', 'read_chunks', 'read_step_chunks', 'list_streams',
    'signal', 'signal_task', 'list_waits', 'count_late_waits', 'wake_waits', 'cancel_abandoned', 'ended_runs',
    'create_schedule', 'pause_schedule', 'resume_schedule', 'remove_schedule', 'list_schedules', 'advance_schedule', 'due_schedules', 'next_schedule'];
  c_worker constant text[] := array[
    'claim_tasks', 'poll_for_tasks', 'start_tasks', 'heartbeat',
    'complete_task', 'complete_tasks', 'fail_task', 'fail_tasks', 'release_tasks', 'release_unknown_tasks',
    'yield_tasks', 'resume_tasks',
    'settle_and_claim', 'sweep_and_claim', 'holds_task',
    'requeue_stalled_tasks',
    'submit_jobs', 'claim_jobs', 'beat_jobs', 'finish_jobs', 'fail_jobs', 'reschedule_jobs', 'release_jobs', 'sweep_jobs',
    'settle_jobs', 'settle_job', 'settle_and_claim_all', 'release_unknown_jobs', 'holds_job', 'next_job', 'get_jobs',
    'load_permits', 'load_holds', 'note_permits', 'hold_permits', 'hold_for_tasks', 'give_up_holds', 'look_at_queue', 'more_messages', 'batch_messages', 'lease_messages', 'claim_messages', 'queue_depth', 'keep_messages', 'end_messages',
    'append_chunks', 'append_step_chunks', 'close_stream', 'close_step_stream',
    'create_schedule', 'remove_schedule', 'list_schedules', 'advance_schedule', 'due_schedules', 'next_schedule',
    -- Delete nothing but what its writers said may go, and what nobody looks at any more.
    'prune_streams', 'prune_turns',
    'announce_hooks', 'wait_tasks', 'wake_waits', 'cancel_abandoned', 'needs_waking', 'next_wait',
    -- For steps that signal in their transaction.
    'signal', 'signal_task',
    'mark_worker_stopped', 'track_worker_function', 'get_flow_versions', 'set_flow_interface', 'set_flow_input_schema',
    -- For the tasks of maps, which have their element only.
    'get_run_input', 'get_step_outputs', 'ended_runs',
    -- Runs with the caller's rights: a worker can verify a shape, not create or replace one.
    'ensure_flow_compiled', '_get_flow_shape', '_compare_flow_shapes', '_compare_step_shapes', '_pattern_shape'];
  -- Apart, because who may do this can delete all history; a worker need not.
  c_upkeep constant text[] := array[
    'find_jobs', 'find_jobs_by_name', 'get_job_summaries', 'count_prunable_jobs',
    'prune_runs', 'count_prunable_runs',
    'prune_jobs', 'sweep_jobs', 'redrive_jobs', 'clear_concern', 'reschedule_unheld_jobs', 'complete_unheld_jobs', 'set_job_settings',
    'drop_dead_jobs', 'set_capacity', 'set_rate', 'load_permits', 'load_holds', 'note_permits', 'list_permits', 'get_message', 'prune_turns',
    'get_jobs', 'list_jobs', 'read_job_trace', 'read_job_trace_end', 'get_job_settings', 'pause_needs', 'resume_needs', 'list_paused_needs',
    'prune_streams', 'list_streams'];
  c_viewer constant text[] := array[
    'get_run_with_states', 'get_run_progress', 'list_runs', 'read_events', 'get_flow_versions',
    'get_run', 'get_run_statuses', 'get_run_input', 'get_run_steps', 'get_step_outputs',
    'get_flows', 'get_flow_definition', 'get_runs_between', 'get_step_times', 'list_tasks',
    'get_jobs', 'list_jobs', 'read_job_trace', 'read_job_trace_end', 'get_job_settings',
    'find_jobs', 'find_jobs_by_name', 'get_job_summaries', 'get_job_depths', 'get_job_holders', 'get_job_waiters', 'count_prunable_jobs',
    'count_jobs', 'list_paused_needs', 'list_permits', 'get_message',
    'read_chunks', 'read_step_chunks', 'list_streams', 'list_waits', 'count_late_waits', 'list_schedules',
    'list_workers', 'get_queue_depths', 'get_step_statistics', 'get_activity', 'count_prunable_runs',
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
  perform pgflow._grant_functions('pgflow_upkeep', c_upkeep);
  if pgflow._grant_functions('pgflow_viewer', c_viewer) then
    grant select on all tables in schema pgflow to pgflow_viewer;
    -- Whoever has a token can answer.
    revoke select on pgflow.hooks, pgflow.waits from pgflow_viewer;
    grant select (run_id, task_index, step_slug) on pgflow.hooks to pgflow_viewer;
    grant select (run_id, since, until, task_index, attempt, open_children, has_failed, outcomes, is_detached, each, kind, flow_slug, step_slug, schema)
      on pgflow.waits to pgflow_viewer;
  end if;
  perform pgflow._grant_pgwf();
end;
$$;
