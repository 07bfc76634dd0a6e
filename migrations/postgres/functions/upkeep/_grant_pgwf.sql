-- Gives the roles that exist what they need of the schema pgwf: clients submit and cancel, workers take and settle,
-- whoever looks after jobs does the rest, and all of them see how jobs are doing.
create or replace function pgflow._grant_pgwf() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_all constant text[] := array['is_trace_enabled', 'is_notify_enabled', 'crash_concern_threshold'];
  c_client constant text[] := array['submit_job', 'cancel_job', 'normalize_wait_for'];
  c_worker constant text[] := array[
    'submit_job', 'normalize_wait_for', 'get_work', 'extend_lease', 'reschedule_job', 'complete_job'];
  c_upkeep constant text[] := array[
    'cancel_job', 'reschedule_unheld_job', 'complete_unheld_job', 'archive_cancelled_jobs', 'clear_crash_concern',
    'set_trace', 'set_notify', 'set_crash_concern_threshold'];
  v_role record;
begin
  revoke all on schema pgwf from public;
  revoke all on all tables in schema pgwf from public;
  revoke all on all functions in schema pgwf from public;
  for v_role in
    select r.rolname, r.functions
      from (values ('pgflow_client', c_client), ('pgflow_worker', c_worker), ('pgflow_upkeep', c_upkeep),
                   ('pgflow_viewer', '{}')) r(rolname, functions)
  loop
    if pgflow._grant_functions(v_role.rolname, v_role.functions || c_all, 'pgwf') then
      execute format('grant select on all tables in schema pgwf to %I', v_role.rolname);
    end if;
  end loop;
end;
$$;
