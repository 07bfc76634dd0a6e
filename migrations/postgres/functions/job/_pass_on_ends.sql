-- Lets jobs that were given edges to what had ended badly end too, as those edges say, and lines up `keys`.
create or replace function pgflow._pass_on_ends(
  p_waiters text[],
  p_dependencies text[],
  p_policies text[],
  p_ends text[],
  p_worker text,
  p_keys text[],
  p_deltas int[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended record;
begin
  select array_agg(e.waiter order by e.n) as ids, array_agg(e.outcome order by e.n) as outcomes,
         array_agg(e.error order by e.n) as errors, array_agg(e.cause order by e.n) as causes
    into v_ended
    from (
      -- The first counts.
      select distinct on (e.waiter) e.waiter, e.n, case e.policy when 'fail' then 'failed' else 'cancelled' end as outcome,
             format('dependency %s ended %s', e.dependency, e.ends) as error, format('dependency %s', e.dependency) as cause
        from unnest(p_waiters, p_dependencies, p_policies, p_ends) with ordinality e(waiter, dependency, policy, ends, n)
       where e.waiter is not null and e.ends <> 'done' and e.policy in ('fail', 'cancel')
       order by e.waiter, e.n
    ) e;
  if v_ended.ids is not null then
    perform pgflow._lock_jobs(v_ended.ids);
  end if;
  perform pgflow._end_jobs(v_ended.ids, v_ended.outcomes, null, v_ended.errors, p_worker, null, p_keys, p_deltas,
    p_causes => v_ended.causes);
end;
$$;
