-- Deletes what ended before `retention_interval` ago: runs with everything of theirs, archived
-- messages, workers not heard of since. Never touches a live run. With `max_runs` it stops after
-- that many (null: with none left); call it again until it returns 0 runs to prune in short transactions.
-- Without a default for `max_runs`, so that the form with one parameter is never ambiguous.
--
-- It waits for nobody: what somebody holds a lock on stays until the next call.
create or replace function pgflow.prune_data_older_than(retention_interval interval, max_runs int)
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
  v_ended uuid[];
  v_next int := 1;
  v_deleted record;
begin
  perform pgflow._check_retention(retention_interval);
  runs := 0; step_states := 0; step_tasks := 0; events := 0; messages := 0;
  -- Whatever ended before the cutoff also started before it: the index on started_at finds it. Which
  -- of these really did is seen under their lock.
  v_ended := array(
    select r.run_id from pgflow.flows f join pgflow.runs r on r.flow_slug = f.flow_slug
     where r.started_at < v_cutoff and r.status <> 'started'
     order by r.run_id
  );
  while v_next <= cardinality(v_ended) and runs < coalesce(max_runs, runs + 1) loop
    select * into v_deleted from pgflow._prune_runs(
      v_ended[v_next : v_next + least(max_runs - runs, 1000) - 1], v_cutoff);
    v_next := v_next + least(max_runs - runs, 1000);
    runs := runs + v_deleted.runs;
    step_states := step_states + v_deleted.step_states;
    step_tasks := step_tasks + v_deleted.step_tasks;
    events := events + v_deleted.events;
    messages := messages + v_deleted.messages;
  end loop;
  archived_messages := pgflow._delete_archived_messages(v_cutoff);
  workers := pgflow._prune_workers(v_cutoff);
  return next;
end;
$$;
