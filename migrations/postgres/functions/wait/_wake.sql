-- Tells waits of children that have ended, and lets those go on whose time has come. In the order of all locks: steps, runs, tasks.
-- `told` is what _tell_waits says; `runs` are those that it looked at.
create or replace function pgflow._wake(
  flow_slugs text[], kinds text[], children text[], qty int, out woken int, out timed_out int, out told int, out runs uuid[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_due record;
  v_what text[];
begin
  select coalesce(array_agg(d.run_id), '{}') as runs, coalesce(array_agg(d.step_slug), '{}') as steps,
         coalesce(array_agg(d.task_index), '{}') as indexes
    into v_due from pgflow._due_waits(_wake.flow_slugs, _wake.kinds, _wake.children, _wake.qty) d;
  perform pgflow._lock_to_settle(v_due.runs, v_due.steps, v_due.indexes, array_fill(0, array[cardinality(v_due.runs)]));
  told := case when cardinality(_wake.children) > 0
    then pgflow._tell_waits(_wake.kinds, _wake.children, v_due.runs, v_due.steps, v_due.indexes) else 0 end;
  v_what := array(
    select pgflow._wake_one(d.run_id, d.step_slug, d.task_index)
      from unnest(v_due.runs, v_due.steps, v_due.indexes) with ordinality d(run_id, step_slug, task_index, n) order by d.n);
  perform pgflow._archive_dead_messages(v_due.runs) where cardinality(v_due.runs) > 0;
  runs := v_due.runs;
  woken := cardinality(array_positions(v_what, 'woken'));
  timed_out := cardinality(array_positions(v_what, 'timed_out'));
end;
$$;
