-- In how many seconds the next job of these needs may be had, as far as it is near: a sleeper wakes, or a lease runs out, also one of another
-- need with a key that jobs of these wait for. Null if that is not known: who sleeps for ever (see pgwf) wakes no claim. Looks at the front
-- of two indexes per need, and of one, only.
create or replace function pgflow.next_job(needs text[]) returns double precision
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
  v_now timestamptz := clock_timestamp();
begin
  return (
    -- `greatest` passes over nulls: nothing to wait for is not "now".
    select case when min(d.at) is not null then greatest(extract(epoch from min(d.at) - v_now), 0) end
      from (
        select o.at
          from (select distinct i as need from unnest(next_job.needs) i where i is not null) n
          cross join lateral (
            (select j.wake_at as at from pgflow.jobs j
              where j.state = 'sleeping' and j.need = n.need and j.wake_at < 'infinity' order by j.wake_at limit 1)
            union all
            (select j.lease_until from pgflow.jobs j where j.state = 'leased' and j.need = n.need order by j.look_at limit 20)
          ) o
        union all
        select h.lease_until
          from (
            select j.key, j.lease_until from pgflow.jobs j where j.state = 'leased' and j.key is not null order by j.look_at limit 20
          ) h
         where (
           select true from unnest(next_job.needs) n(need)
             cross join lateral (
               select from pgflow.jobs p where p.key = h.key and p.need = n.need and p.state = 'parked' limit 1) p
            limit 1)
      ) d);
end;
$$;
