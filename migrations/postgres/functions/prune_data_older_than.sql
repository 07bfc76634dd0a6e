-- Deletes what ended before `retention_interval` ago: runs with everything of theirs, archived
-- messages, workers not heard of since. Never touches a live run. With `max_runs` it stops after
-- that many; call it again until it returns 0 runs to prune in short transactions.
create or replace function pgflow.prune_data_older_than(retention_interval interval, max_runs int default null)
returns table (
  runs bigint, step_states bigint, step_tasks bigint, events bigint,
  messages bigint, archived_messages bigint, workers bigint
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_cutoff timestamptz := now() - retention_interval;
  v_left int := max_runs;
  v_batch uuid[];
  v_deleted record;
begin
  runs := 0; step_states := 0; step_tasks := 0; events := 0; messages := 0;
  loop
    -- Whatever ended before the cutoff also started before it: the index on started_at finds it.
    v_batch := array(
      select r.run_id from pgflow.flows f join pgflow.runs r on r.flow_slug = f.flow_slug
       where r.started_at < v_cutoff and r.status <> 'started'
         and coalesce(r.completed_at, r.failed_at, r.cancelled_at) < v_cutoff
       order by r.run_id limit least(coalesce(v_left, 1000), 1000)
         for update of r skip locked
    );
    exit when cardinality(v_batch) = 0;
    select * into v_deleted from pgflow._delete_runs(v_batch);
    runs := runs + cardinality(v_batch);
    step_states := step_states + v_deleted.step_states;
    step_tasks := step_tasks + v_deleted.step_tasks;
    events := events + v_deleted.events;
    messages := messages + v_deleted.messages;
    v_left := v_left - cardinality(v_batch);
    exit when v_left <= 0;
  end loop;
  archived_messages := pgflow._delete_archived_messages(v_cutoff);
  delete from pgflow.workers w where w.last_heartbeat_at < v_cutoff;
  get diagnostics workers = row_count;
  return next;
end;
$$;
