-- Of the moments that want a run, those that get one now, and those that wait, as `overlap` says.
create or replace function pgflow._moments_to_start(
  schedule pgflow.schedules, wanted timestamptz[], wanted_runs uuid[],
  out moments timestamptz[], out run_ids uuid[], out queued_at timestamptz[], out queued_runs uuid[], out skipped int
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_is_running boolean := exists (
    select from pgflow.runs r where r.run_id = schedule.last_run and r.status = 'started');
  v_many int := cardinality(wanted);
  v_first int;
begin
  moments := wanted;
  run_ids := wanted_runs;
  queued_at := schedule.queued_at;
  queued_runs := schedule.queued_runs;
  skipped := 0;
  if schedule.overlap = 'skip' then
    v_first := case when v_is_running then v_many + 1 else greatest(v_many, 1) end;
    moments := wanted[v_first:];
    run_ids := wanted_runs[v_first:];
    skipped := v_many - cardinality(moments);
  elsif schedule.overlap = 'queue' then
    queued_at := queued_at || wanted;
    queued_runs := queued_runs || wanted_runs;
    skipped := greatest(0, cardinality(queued_at) - pgflow._schedule_queue());
    v_first := skipped + case when v_is_running then 0 else 1 end;
    moments := queued_at[skipped + 1:v_first];
    run_ids := queued_runs[skipped + 1:v_first];
    queued_at := queued_at[v_first + 1:];
    queued_runs := queued_runs[v_first + 1:];
  end if;
end;
$$;
