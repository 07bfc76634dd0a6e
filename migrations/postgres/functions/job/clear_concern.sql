-- Lets jobs whose leases ran out too often in a row be leased again, their streak forgotten. Per item: applied (also when
-- there was nothing to forget), already_settled (it is over or cancelled) or unknown.
create or replace function pgflow.clear_concern(ids text[], reason text default null, worker text default null)
returns table (id text, outcome text)
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
  v_cleared text[];
begin
  perform pgflow._check_job_batch(clear_concern.ids, null);
  v_cleared := pgflow._clear_concern(clear_concern.ids, clear_concern.worker, clear_concern.reason);
  return query
    select i.id, case
        when i.id = any (v_cleared) then 'applied'
        when exists (select from pgflow.jobs j where j.id = i.id) or exists (select from pgflow.job_archive a where a.id = i.id)
          then 'already_settled'
        else 'unknown' end
      from unnest(clear_concern.ids) with ordinality i(id, n) order by i.n;
end;
$$;
