-- Notes that leases hold units of resources, whose permits the caller has locked, and forgets holds of those whose leases are gone.
-- Who has no lease holds nothing.
create or replace function pgflow.hold_permits(resources text[], jobs text[], tokens text[], batches text[], units int[], fences bigint[])
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  -- Who is ending one of them forgets it.
  with gone as materialized (
    select h.resource, h.token from pgflow.permit_holds h
     where h.resource = any (hold_permits.resources)
       and not exists (select from pgflow.jobs j where j.id = h.job and j.token = h.token)
       for update skip locked
  )
  delete from pgflow.permit_holds h using gone g where h.resource = g.resource and h.token = g.token;
  insert into pgflow.permit_holds (resource, token, job, batch, units, fence)
  select i.resource, j.token, j.id, i.batch, i.units, i.fence
    from unnest(hold_permits.resources, hold_permits.jobs, tokens, batches, hold_permits.units, fences) i(resource, job, token, batch, units, fence)
    join pgflow.jobs j on j.id = i.job and j.token::text = i.token;
end;
$$;
