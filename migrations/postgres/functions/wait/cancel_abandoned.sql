-- Cancels up to `max_children` runs and jobs whose parents wait for them no longer, and returns how many children it has seen to, with those
-- that are runs: call it again while there are any. Jobs are cancelled for one reason per call, because jobs and keys are locked once. A job
-- that another task or job waits for goes on.
create or replace function pgflow.cancel_abandoned(max_children int default 100, out children int, out runs uuid[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_left record;
  v_runs uuid[];
  v_jobs text[];
  v_free text[];
  v_reason text;
  v_parent uuid;
begin
  if coalesce(cancel_abandoned.max_children, 0) < 1 then
    raise exception 'At least one child must be asked for, not %', coalesce(cancel_abandoned.max_children::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  select array_agg(a.child) as children, array_agg(a.abandoned) as reasons, array_agg(a.kind) as kinds, array_agg(a.run_id) as parents into v_left
    from (
      select a.child, a.abandoned, a.kind, a.run_id from pgflow.awaited a where a.abandoned is not null
       order by a.run_id, a.step_slug, a.task_index, a.attempt, a.place limit cancel_abandoned.max_children
    ) a;
  v_runs := array(select c.child::uuid from unnest(v_left.children, v_left.kinds) c(child, kind) where c.kind = 'run');
  select c.reason, c.parent into v_reason, v_parent
    from unnest(v_left.reasons, v_left.kinds, v_left.parents) with ordinality c(reason, kind, parent, n)
   where c.kind = 'job' order by c.n limit 1;
  v_jobs := array(
    select c.child from unnest(v_left.children, v_left.kinds, v_left.reasons) c(child, kind, reason)
     where c.kind = 'job' and c.reason = v_reason);
  perform from pgflow.runs r where r.run_id = any (v_runs) order by r.run_id for no key update;
  -- Locked before it is known who waits for them, so that nobody begins to meanwhile.
  perform pgflow._lock_jobs(v_jobs) where v_jobs <> '{}';
  v_free := array(select j from unnest(v_jobs) j where not pgflow._is_awaited(j));
  perform pgflow.cancel_jobs(v_free, v_reason, format('run %s', v_parent)) where v_free <> '{}';
  delete from pgflow.awaited a
   using unnest(v_left.children, v_left.kinds, v_left.parents) c(child, kind, parent)
   where a.child = c.child and a.kind = c.kind and a.run_id = c.parent and a.abandoned is not null
     and (a.kind = 'run' or a.abandoned = v_reason);
  perform pgflow._cancel_runs(
    v_runs, array(select c.reason from unnest(v_left.reasons, v_left.kinds) c(reason, kind) where c.kind = 'run')) where v_runs <> '{}';
  children := cardinality(v_runs) + cardinality(v_jobs);
  runs := v_runs;
end;
$$;
