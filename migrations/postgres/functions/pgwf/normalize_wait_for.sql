-- What is left to wait for: without nulls and archived jobs, in order, as often as it was named. Raises for unknown jobs.
create or replace function pgwf.normalize_wait_for(p_wait_for text[]) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_left text[];
  v_unknown text[];
begin
  select array_agg(w.id order by w.n) filter (where a.id is null),
         array_agg(w.id order by w.n) filter (where a.id is null and j.id is null)
    into v_left, v_unknown
    from unnest(p_wait_for) with ordinality w(id, n)
    left join pgflow.job_archive a on a.id = w.id
    left join pgflow.jobs j on j.id = w.id
   where w.id is not null;
  -- One that ended between the two looks is archived now.
  v_unknown := array(
    select u.id from unnest(v_unknown) with ordinality u(id, n)
     where not exists (select from pgflow.job_archive a where a.id = u.id) order by u.n);
  if v_unknown <> '{}' then
    raise exception 'wait_for references unknown jobs: %', v_unknown;
  end if;
  return coalesce(v_left, '{}');
end;
$$;
