-- Deletes those of these runs that ended before the cutoff, except the ones that somebody holds
-- something of. Those at work lock steps before runs and runs before tasks; here the run comes first,
-- so nothing is waited for: if a lock is not to be had at once, each half is tried on its own.
create or replace function pgflow._prune_runs(
  run_ids uuid[],
  cutoff timestamptz,
  out runs bigint,
  out step_states bigint,
  out step_tasks bigint,
  out events bigint,
  out messages bigint
)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
#variable_conflict use_column
declare
  v_half int := cardinality(_prune_runs.run_ids) / 2;
  v_ended uuid[];
begin
  begin
    v_ended := array(
      select r.run_id from pgflow.runs r
       where r.run_id = any (_prune_runs.run_ids)
         and coalesce(r.completed_at, r.failed_at, r.cancelled_at) < _prune_runs.cutoff
         and not (coalesce(r.is_child, false) and pgflow._is_read_later(r.run_id))
       order by r.run_id for update of r skip locked
    );
    select cardinality(v_ended), d.* into runs, step_states, step_tasks, events, messages
      from pgflow._delete_runs(v_ended) d;
    return;
  exception when lock_not_available then
    runs := 0; step_states := 0; step_tasks := 0; events := 0; messages := 0;
  end;
  if v_half > 0 then
    select sum(d.runs), sum(d.step_states), sum(d.step_tasks), sum(d.events), sum(d.messages)
      into runs, step_states, step_tasks, events, messages
      from (values (1, v_half), (v_half + 1, cardinality(_prune_runs.run_ids))) half(first, last)
      cross join lateral pgflow._prune_runs(_prune_runs.run_ids[half.first : half.last], _prune_runs.cutoff) d;
  end if;
end;
$$;
