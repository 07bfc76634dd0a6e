-- Forgets those of these jobs that failed or crashed, with their traces and whatever else is kept of them; others are left as they are.
-- Returns how many. What a wait still has to read of them stays.
create or replace function pgflow.drop_dead_jobs(ids text[]) returns bigint
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
  v_gone record;
begin
  with dead as materialized (
    select a.id from pgflow.job_archive a
     where a.id = any (drop_dead_jobs.ids) and a.outcome in ('failed', 'crashed')
       and not exists (select from pgflow.awaited w where w.child = a.id and w.kind = 'job' and w.abandoned is null)
     order by a.id for update
  ), gone as (
    delete from pgflow.job_archive a using dead d where a.id = d.id returning a.id, a.seq
  )
  select array_agg(g.id) as ids, array_agg(g.seq) as places into v_gone from gone g;
  perform pgflow._forget_jobs(v_gone.ids, v_gone.places);
  return coalesce(cardinality(v_gone.ids), 0);
end;
$$;
